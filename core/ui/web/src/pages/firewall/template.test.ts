import { expect, test } from 'vitest'
import { blank } from './rules'
import {
  besidesOf,
  editedOf,
  parts,
  replaceCommand,
  rulesOf,
  taken,
  textsOf,
  without,
  withMoved,
  withoutRule,
  withRule,
  type Template,
} from './template'

const template: Template = {
  id: 5,
  team_id: 1,
  created_by: 'anna@example.com',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  version: 3,
  name: 'web',
  description: null,
  shared: true,
  content: {
    rules: [{ type: 'in', action: 'ACCEPT', enable: 1, dport: '443' }, { action: 'office' }],
    aliases: [{ name: 'office', cidr: '192.0.2.0/24' }],
    ipsets: [{ name: 'doors', members: [{ cidr: '192.0.2.1' }, { cidr: '192.0.2.2', nomatch: true }] }],
    options: { policy_in: 'DROP' },
  },
}
const { content } = template

test('rules are edited by their places', () => {
  expect(rulesOf(content)).toMatchObject([
    { pos: 0, type: 'in', action: 'ACCEPT', dport: '443', source: null },
    { pos: 1, type: 'in', action: 'office', enable: 0 },
  ])
  const rule = { ...blank(), dport: '80' }
  const made = { type: 'in', action: 'ACCEPT', enable: 1, dport: '80' }
  expect(withRule(content, 0, rule).rules).toEqual([made, content.rules[1]])
  expect(withRule(content, 2, rule).rules).toEqual([...content.rules, made])
  expect(withMoved(content, 0, 1).rules).toEqual([content.rules[1], content.rules[0]])
  expect(withoutRule(content, 0)).toEqual({ ...content, rules: [content.rules[1]] })
})

test('what belongs to the rules is told, and can be taken away', () => {
  const all = besidesOf(content)
  expect(all.map(({ name, value }) => `${name} ${value}`)).toEqual([
    'office 192.0.2.0/24',
    'doors 192.0.2.1, !192.0.2.2',
    'policy_in DROP',
  ])
  for (const one of all) expect(besidesOf(without(content, one))).toEqual(all.filter((other) => other !== one))
  expect(besidesOf({ rules: [] })).toEqual([])
})

test('the whole is sent with the version that was read', () => {
  expect(replaceCommand(template, { ...editedOf(template), name: ' web ' }).options).toEqual({
    path: { template_id: 5 },
    body: { version: 3, name: 'web', shared: true, content },
  })
  const bare = { name: 'a', description: 'b', shared: false, content: { rules: [] } }
  expect(replaceCommand(template, bare).options.body).toEqual({ version: 3, name: 'a', description: 'b', content: { rules: [] } })
})

test('of two who have edited it each part is taken by itself', () => {
  const mine = editedOf(template)
  const other = { name: 'other', description: 'what', shared: false, content: { rules: [] } }
  const yes = (is: boolean): string => (is ? 'yes' : 'no')
  for (const part of parts) {
    const both = textsOf(taken(mine, other, part), yes)
    for (const one of parts) expect(both[one], `${part} of ${one}`).toBe(textsOf(one === part ? other : mine, yes)[one])
  }
  expect(textsOf(mine, yes).rules).toBe('1: in ACCEPT dport 443; 2: (off) in office')
})
