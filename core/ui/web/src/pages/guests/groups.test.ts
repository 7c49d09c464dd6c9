import { expect, test } from 'vitest'
import type { Guest } from '../../live/guests.svelte'
import { group } from './groups'

const make = (id: number, node: string, ...tags: string[]): Guest =>
  ({ id, node, tags, host: 'h', team: 't' }) as unknown as Guest

test('groups are in their order, and guests keep theirs', () => {
  const { ids, groups } = group([make(3, 'n10'), make(1, 'n9'), make(2, 'n10')], 'node')
  expect(ids).toEqual([-1, 1, -2, 3, 2])
  expect([...groups.values()]).toEqual([
    { name: 'n9', count: 1 },
    { name: 'n10', count: 2 },
  ])
})

test('a guest stands under one tag, and those without one come last', () => {
  const { ids, groups } = group([make(1, 'n'), make(2, 'n', 'web', 'prod'), make(3, 'n', '__proto__')], 'tag')
  expect([...groups.values()].map((one) => one.name)).toEqual(['__proto__', 'prod', ''])
  expect(ids.filter((id) => id > 0)).toEqual([3, 2, 1])
})
