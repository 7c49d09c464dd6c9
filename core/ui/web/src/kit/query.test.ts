import { expect, test } from 'vitest'
import { daysSince, filterOf, longest, offersOf, only, parse, sizes, spans, wordsOf, written, type Fields } from './query'

interface Thing {
  name: string
  tags?: string[]
  cpu?: number | null
  status?: string
  size?: number
}
const fields: Fields<Thing> = {
  words: (one) => [one.name, ...(one.tags ?? [])],
  fields: {
    name: { texts: (one) => [one.name] },
    tag: { texts: (one) => one.tags ?? [], offers: () => ['prod', 'pre prod', 'test', 'prod', '', undefined] },
    status: { texts: (one) => [one.status], values: ['running', 'stopped'] },
    cpu: { number: (one) => one.cpu, units: { '%': 1 } },
    size: { number: (one) => one.size, units: sizes },
    age: { number: (one) => one.size, units: spans },
  },
}
const served: Fields<Thing> = {
  plain: 'all',
  most: 3,
  fields: { status: { values: ['running', 'stopped'] }, kind: { offers: () => ['vm.start', 'vm.stop'] } },
}
const things: Thing[] = [
  { name: 'web-1', tags: ['prod', 'eu'], cpu: 93, status: 'running', size: 2048 },
  { name: 'Db 2', tags: ['pre prod'], cpu: null, status: 'stopped', size: 8 },
  { name: 'fe80::1', cpu: 5, status: 'running', size: 0.5 },
]
const found = (typed: string): string[] => things.filter(filterOf(parse(typed, fields), fields)).map(({ name }) => name)
const misfits = (typed: string, of: Fields<Thing> = fields): string[] =>
  parse(typed, of).misfits.map(({ kind, field, text }) => [kind, field, text].filter(Boolean).join(' '))
const all = things.map(({ name }) => name)

test('words and fields all fit, in any case, and turned round', () => {
  expect(found('')).toEqual(all)
  expect(found('WEB prod')).toEqual(['web-1'])
  expect(found('TAG:Prod status:RUNNING cpu:>80')).toEqual(['web-1'])
  expect(found('-status:running')).toEqual(['Db 2'])
  expect(found('-web')).toEqual(['Db 2', 'fe80::1'])
  expect(found('tag:"pre prod"')).toEqual(['Db 2'])
  expect(found('tag:p*')).toEqual(['web-1', 'Db 2'])
  expect(found('name:*b*')).toEqual(['web-1', 'Db 2'])
  expect(found('"db 2"')).toEqual(['Db 2'])
  expect(found('fe80::')).toEqual(['fe80::1'])
})

test('numbers are compared in their units', () => {
  expect(found('cpu:>=93%')).toEqual(['web-1'])
  expect(found('cpu:<10')).toEqual(['fe80::1'])
  expect(found('-cpu:<10')).toEqual(['web-1', 'Db 2'])
  expect(found('size:>1TiB')).toEqual(['web-1'])
  expect(found('size:512MiB')).toEqual(['fe80::1'])
  expect(found('age:>1w')).toEqual(['web-1', 'Db 2'])
  expect(parse('cpu:1e9', fields).terms).toEqual([])
})

test('what cannot be meant narrows nothing and is told', () => {
  for (const [typed, told] of [
    ['cpu:>x', 'number cpu %'],
    ['cpu:>', 'number cpu %'],
    ['cpu:5GiB', 'number cpu %'],
    ['cpu:99999999999999999999', 'number cpu %'],
    ['status:gone', 'value status running, stopped'],
    ['name:"web-1', 'quote'],
    ['"', 'quote'],
    ['nod:pve1', 'field nod nod:pve1'],
    ['x'.repeat(10_240), `long ${longest}`],
    [Array.from({ length: 60 }, (_, i) => `-w${i}x`).join(' '), 'many 40'],
  ] as const) {
    expect(misfits(typed), typed.slice(0, 40)).toEqual([told])
    if (!['nod:pve1', 'x'.repeat(10_240)].includes(typed)) expect(found(typed).length, typed.slice(0, 40)).toBeGreaterThan(0)
  }
  expect(found('cpu:>x')).toEqual(all)
  expect(found('status:gone web')).toEqual(['web-1'])
  expect(misfits('tag: cpu: - : fe80::1 10.0.0.1:22 x:b:c')).toEqual(['field x x:b:c'])
  expect(misfits('-web status:r* kind:vm.start', served)).toEqual(['not web', 'value status running, stopped'])
  expect(misfits('a b c d', served)).toEqual(['many 3'])
})

test('anything can be typed', () => {
  const hostile = [
    '-',
    '"',
    '""',
    '-"',
    'tag:"',
    '(',
    '[a-',
    '\\',
    ':',
    '::',
    '*',
    'name:**',
    'constructor:x',
    '__proto__:x',
    'toString:',
    '\u202e',
    '\u0000',
    '<script>alert(1)</script>',
    'cpu:NaN',
    'cpu:Infinity',
    'cpu:--5',
    `name:${'*a'.repeat(400)}b`,
    '"'.repeat(1001),
    'tag:x '.repeat(2000),
  ]
  for (const typed of hostile) {
    expect(() => found(typed), typed.slice(0, 20)).not.toThrow()
    expect(() => offersOf(typed, typed.length, fields)).not.toThrow()
    expect(() => written(parse(typed, fields).terms)).not.toThrow()
  }
  // A pattern that backtracks would exceed the time limit of this test.
  filterOf(parse(`name:${'*a'.repeat(400)}b`, fields), fields)({ name: 'a'.repeat(50_000) })
})

test('what a service looks for narrows nothing here', () => {
  const read = parse('web status:running kind:vm.start', served)
  expect(things.filter(filterOf(read, served))).toEqual(things)
  expect(only(read, 'status')).toBe('running')
  expect(only(read, 'nothing')).toBeUndefined()
  expect(wordsOf(read)).toBe('web')
  expect(written(parse('-tag:"pre prod" "tag:prod" web cpu:>80', fields).terms)).toBe('-tag:"pre prod" "tag:prod" web cpu:>80')
})

test('the term before the caret is completed', () => {
  const texts = (typed: string, caret = typed.length): string[] => offersOf(typed, caret, fields).map(({ text }) => text)
  expect(texts('')).toEqual([])
  expect(texts('web ')).toEqual([])
  expect(texts('web s')).toEqual(['status:', 'size:'])
  expect(texts('status:')).toEqual(['running', 'stopped'])
  expect(texts('status:running')).toEqual([])
  expect(texts('tag:p')).toEqual(['pre prod', 'prod'])
  expect(texts('nod:')).toEqual([])
  expect(texts('constructor:')).toEqual([])
  expect(texts('tag:pr web', 6)).toEqual(['pre prod', 'prod'])
  const [offer] = offersOf('web -tag:pre', 12, fields)
  expect(offer).toEqual({ value: '-tag:"pre prod" ', text: 'pre prod', from: 4, to: 12 })
})

test('how old something is', () => {
  expect(daysSince(null)).toBeNull()
  expect(daysSince(new Date(Date.now() - 36 * 3600_000).toISOString())).toBeCloseTo(1.5, 3)
})
