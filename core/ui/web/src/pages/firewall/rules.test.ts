import { expect, test } from 'vitest'
import { rowsOf, settled, steps, theirsDiffers, mineDiffers, type Step, type Wanted } from './conflict'
import {
  aliasesWith,
  blank,
  membersWith,
  named,
  newRule,
  optionsWith,
  patch,
  patchOfDraft,
  rulesWith,
  setsWith,
  textOf,
  written,
} from './rules'
import { addressOf, changesOf, type Change, type Draft, type Options, type Rule } from './scope'

const rule = (comment: string, more: Partial<Rule> = {}): Rule => ({
  pos: 0,
  type: 'in',
  action: 'ACCEPT',
  enable: 1,
  macro: null,
  iface: null,
  source: null,
  dest: null,
  sport: null,
  dport: null,
  proto: null,
  log: null,
  icmp_type: null,
  comment,
  digest: 'd',
  ...more,
})
const list = (...names: string[]): Rule[] => names.map((name, pos) => rule(name, { pos }))
const change = (more: Omit<Change, 'scope'>): Change => ({ scope: { kind: 'vm', id: 1 }, ...more })
const names = (rules: readonly Rule[]): string => rules.map((one) => one.comment).join(' ')

test('a rule is read by a form and written again', () => {
  const was = rule('web', { source: '192.0.2.0/24', proto: 'tcp', dport: '443' })
  expect(textOf(was)).toBe('in ACCEPT tcp from 192.0.2.0/24 dport 443 # web')
  expect(textOf({ ...was, enable: 0 })).toBe('(off) in ACCEPT tcp from 192.0.2.0/24 dport 443 # web')
  const next = { ...written(was), source: '', dport: '80,443', enable: false }
  expect(patch(written(was), next)).toEqual({ source: null, dport: '80,443', enable: 0 })
  expect(patchOfDraft(written(was), next)).toEqual({ source: '', dport: '80,443', enable: 0 })
  expect(newRule({ ...blank(), macro: 'SSH' })).toEqual({ type: 'in', action: 'ACCEPT', macro: 'SSH', enable: 1 })
})

test('a list is as the changes of a draft make it', () => {
  const after = rulesWith(list('a', 'b', 'c'), [
    change({ action: 'create_rule', pos: 1, rule: { type: 'out', action: 'DROP', comment: 'new' } }),
    change({ action: 'move_rule', pos: 3, to: 0 }),
    change({ action: 'change_rule', pos: 1, rule: { comment: '', dport: '22' } }),
    change({ action: 'delete_rule', pos: 3 }),
    change({ action: 'delete_rule', pos: 99 }),
  ])
  expect(after.map(({ rule, changed }) => `${rule.pos} ${textOf(rule)} ${changed}`)).toEqual([
    '0 in ACCEPT # c true',
    '1 in ACCEPT dport 22 true',
    '2 (off) out DROP # new true',
  ])
  const alias = { name: 'office', cidr: '192.0.2.0/24', comment: null, digest: 'd' }
  const changes = [
    change({ action: 'change_alias', name: 'office', cidr: '198.51.100.0/24', comment: 'moved' }),
    change({ action: 'create_alias', name: 'door', cidr: '192.0.2.9' }),
    change({ action: 'create_ipset', name: 'set' }),
    change({ action: 'add_member', name: 'set', members: [{ cidr: '192.0.2.1' }, { cidr: '192.0.2.2', nomatch: true }] }),
    change({ action: 'remove_member', name: 'set', members: [{ cidr: '192.0.2.1' }] }),
    change({ action: 'change_options', options: { enable: '1', policy_in: '', odd: 'x' } }),
  ]
  expect(aliasesWith([alias], changes).map((one) => `${one.name} ${one.cidr} ${one.comment}`)).toEqual([
    'office 198.51.100.0/24 moved',
    'door 192.0.2.9 null',
  ])
  expect(setsWith([], changes).map((one) => one.name)).toEqual(['set'])
  expect(membersWith([], 'set', changes).map((one) => `${one.cidr} ${one.nomatch}`)).toEqual(['192.0.2.2 1'])
  const options = optionsWith({ enable: 0, policy_in: 'DROP', other: { kept: 'y' } } as unknown as Options, changes)
  expect(options).toEqual({ enable: 1, policy_in: null, other: { kept: 'y', odd: 'x' } })
})

test('what names an alias or a set is found', () => {
  const used = named(
    [rule('a', { source: '+dc/office,192.0.2.1', dest: 'Gateway' })],
    [{ cidr: '!door', nomatch: 0, comment: null, digest: null }],
  )
  expect(['office', 'gateway', 'door', 'other'].map(used)).toEqual([true, true, true, false])
})

test('a scope has its changes and its address', () => {
  const draft = { changes: [change({ action: 'delete_rule' }), { scope: { kind: 'vm', id: 2 }, action: 'delete_rule' }] }
  const scope = { kind: 'vm', id: 1, guest: 1, host: 1, team_id: 1, name: 'a' } as const
  expect(changesOf(draft as unknown as Draft, scope)).toHaveLength(1)
  expect(addressOf(scope)).toBe('guest:1')
  expect(addressOf({ ...scope, kind: 'node', node: 'pve1' })).toBe('node:1:pve1')
})

/** carried returns a list after these steps, as the hypervisor executes them. */
function carried(rules: readonly Rule[], all: readonly Step[]): string {
  const after = [...rules]
  for (const step of all) {
    if (step.act === 'create') after.splice(step.pos, 0, rule(step.body.comment ?? ''))
    if (step.act === 'change') after[step.pos] = { ...after[step.pos]!, comment: step.body.comment ?? null }
    if (step.act === 'delete') after.splice(step.pos, 1)
    if (step.act === 'move') after.splice(step.to, 0, ...after.splice(step.pos, 1))
  }
  return names(after)
}
const mine = (rows: ReturnType<typeof rowsOf>): Set<string> => new Set(rows.filter(mineDiffers).map((row) => row.key))

test('two editors: of each the change that is chosen, and nothing else is lost', () => {
  const before = list('a', 'b', 'c')
  const write = (comment: string): Wanted & { act: 'change' } => ({ act: 'change', pos: 1, rule: { ...blank(), comment } })
  // The other person has inserted a rule at the top, so mine has another position now.
  let now = list('x', 'a', 'b', 'c')
  let rows = rowsOf(before, write('mine'), now)
  expect(rows.filter((row) => !settled(row)).map((row) => [row.now?.comment, row.mine?.comment])).toEqual([
    ['x', undefined],
    ['b', 'mine'],
  ])
  expect(carried(now, steps(rows, mine(rows)))).toBe('x a mine c')
  expect(carried(now, steps(rows, new Set(rows.map((row) => row.key))))).toBe('a mine c')
  expect(steps(rows, new Set())).toEqual([])
  // Both have changed the same rule.
  now = list('a', 'theirs', 'c')
  rows = rowsOf(before, write('mine'), now)
  const both = rows.filter((row) => mineDiffers(row) && theirsDiffers(row))
  expect(both.map((row) => [row.before?.comment, row.mine?.comment, row.now?.comment])).toEqual([['b', 'mine', 'theirs']])
  expect(carried(now, steps(rows, mine(rows)))).toBe('a mine c')
  // Both added a similar rule, and another one was inserted before: the two similar ones are one.
  now = list('first', 'b', 'c').with(0, rule('first', { action: 'DROP', type: 'out', dport: '23' }))
  now.splice(1, 0, rule('a', { source: '192.0.2.7' }))
  rows = rowsOf(before, { act: 'change', pos: 0, rule: { ...blank(), comment: 'mine' } }, now)
  expect(rows.map((row) => [row.before?.comment, row.now?.comment])).toEqual([
    [undefined, 'first'],
    ['a', 'a'],
    ['b', 'b'],
    ['c', 'c'],
  ])
  // The rule was deleted: mine creates it again.
  now = list('a', 'c')
  rows = rowsOf(before, write('mine'), now)
  expect(carried(now, steps(rows, mine(rows)))).toBe('a mine c')
  // One deletes, one adds, one moves.
  now = list('x', 'a', 'b', 'c')
  rows = rowsOf(before, { act: 'delete', pos: 0 }, now)
  expect(carried(now, steps(rows, mine(rows)))).toBe('x b c')
  rows = rowsOf(before, { act: 'create', pos: 0, rule: { ...blank(), comment: 'new' } }, now)
  expect(carried(now, steps(rows, mine(rows)))).toBe('x new a b c')
  rows = rowsOf(before, { act: 'create', pos: 3, rule: { ...blank(), comment: 'new' } }, now)
  expect(carried(now, steps(rows, mine(rows)))).toBe('x a b c new')
  rows = rowsOf(before, { act: 'move', pos: 2, to: 0 }, now)
  expect(carried(now, steps(rows, mine(rows)))).toBe('x c a b')
  expect(carried(now, steps(rows, new Set(rows.map((row) => row.key))))).toBe('c a b')
  rows = rowsOf(before, { act: 'move', pos: 2, to: 0 }, list('a', 'b'))
  expect(rows.filter((row) => row.to !== undefined)).toEqual([])
})

test('a list with itself is no conflict', () => {
  const rows = rowsOf(list('a', 'a', 'b'), { act: 'delete', pos: 1 }, list('a', 'b'))
  expect(rows.filter((row) => !settled(row))).toEqual([])
})
