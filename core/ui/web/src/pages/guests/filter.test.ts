import { expect, test } from 'vitest'
import type { Guest } from '../../live/guests.svelte'
import { columns, compare } from './columns'
import { parse } from '../../kit/query'
import { filter, guestFields } from './filter'

const usual = {
  kind: 'vm',
  app_id: null,
  app: null,
  team: 'Default',
  pool: '',
  lock: '',
  template: false,
  is_self: false,
  cluster: '',
}
const make = (more: Partial<Guest>): Guest =>
  ({
    ...usual,
    tags: [],
    addresses: null,
    cpu: null,
    memory_bytes: null,
    memory_total_bytes: null,
    guest_ref: '',
    host: '',
    ...more,
  }) as Guest

const web = make({
  id: 1,
  name: 'web-1',
  status: 'running',
  node: 'alpha',
  tags: ['prod', 'eu'],
  cpu: 0.93,
  vmid: 101,
  addresses: ['10.0.0.5'],
})
const db = make({
  id: 2,
  name: 'Db 2',
  status: 'stopped',
  node: 'beta',
  tags: ['test'],
  vmid: 102,
  memory_total_bytes: 8 * 2 ** 30,
})
const wiki = make({
  id: 3,
  name: 'ct-3',
  kind: 'container',
  status: 'running',
  node: 'alpha',
  app_id: 7,
  app: 'wiki',
  cpu: 0.1,
  vmid: 30,
})
const found = (query: string): number[] => [web, db, wiki].filter(filter(query)).map((guest) => guest.id)

test('words and fields must all fit', () => {
  expect(found('')).toEqual([1, 2, 3])
  expect(found('WEB')).toEqual([1])
  expect(found('wiki')).toEqual([3])
  expect(found('10.0.0')).toEqual([1])
  expect(found('tag:prod status:running')).toEqual([1])
  expect(found('node:al*')).toEqual([1, 3])
  expect(found('node:al')).toEqual([])
  expect(found('is:app')).toEqual([3])
  expect(found('is:vm -tag:test')).toEqual([1])
  expect(found('name:"db 2"')).toEqual([2])
  expect(found('ip:10.0.0.*')).toEqual([1])
})

test('numbers are compared, and what has none does not fit', () => {
  expect(found('cpu:>80')).toEqual([1])
  expect(found('cpu:<=10')).toEqual([3])
  expect(found('vmid:101')).toEqual([1])
  expect(found('size:>=8')).toEqual([2])
  expect(found('cpu:>80%')).toEqual([1])
  expect(found('size:>=8192MiB')).toEqual([2])
  // An invalid number filters nothing, and is reported.
  expect(found('cpu:>many')).toEqual([1, 2, 3])
  expect(parse('cpu:>many', guestFields).misfits).toEqual([{ kind: 'number', field: 'cpu', text: '%' }])
})

test('anything can be typed', () => {
  for (const query of [
    'tag:',
    'cpu:',
    '-',
    '"',
    'tag:"',
    '(',
    'tag:(',
    '[a-',
    '\\',
    'a:b:c',
    ':',
    '*',
    'name:**',
    'constructor:x',
    '\u202e',
  ]) {
    expect(() => found(query), query).not.toThrow()
  }
  expect(found('tag:')).toEqual([1, 2, 3])
  // Many stars: a regular expression would not finish.
  expect([make({ name: 'a'.repeat(5000) })].filter(filter(`name:${'*a'.repeat(20)}b`))).toEqual([])
  expect(found('name:w*b*1')).toEqual([1])
  expect(found('name:we*eb-1')).toEqual([])
})

test('what is missing comes last in both directions', () => {
  const cpu = columns.find((column) => column.key === 'cpu')!
  expect([db, wiki, web].sort(compare(cpu, false)).map((g) => g.id)).toEqual([3, 1, 2])
  expect([db, wiki, web].sort(compare(cpu, true)).map((g) => g.id)).toEqual([1, 3, 2])
  const vmid = columns.find((column) => column.key === 'vmid')!
  expect([web, db, wiki].sort(compare(vmid, false)).map((g) => g.id)).toEqual([3, 1, 2])
})
