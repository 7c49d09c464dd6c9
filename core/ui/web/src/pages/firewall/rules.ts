// Rules, and the lists of a scope after the changes of a draft.
import type { components } from '../../api/schema'
import type { Alias, Change, IPSet, Member, Options, Rule } from './scope'

type DraftRule = NonNullable<Change['rule']>
/** Written is a rule in a form: every field exists, and is empty if the rule does not have it. */
export type Written = Record<TextField, string> & { type: Rule['type']; enable: boolean }

export const textFields = [
  'action',
  'macro',
  'proto',
  'source',
  'sport',
  'dest',
  'dport',
  'icmp_type',
  'iface',
  'log',
  'comment',
] as const
export type TextField = (typeof textFields)[number]

/** written returns a rule as a form needs it. */
export function written(rule: Rule): Written {
  const texts = Object.fromEntries(textFields.map((name) => [name, rule[name] ?? ''])) as Record<TextField, string>
  return { ...texts, type: rule.type, enable: rule.enable === 1 }
}

/** blank is a new rule. It is enabled, because somebody who adds one wants it to work. */
export const blank = (type: Rule['type'] = 'in'): Written => ({
  ...(Object.fromEntries(textFields.map((name) => [name, ''])) as Record<TextField, string>),
  type,
  action: type === 'group' ? '' : 'ACCEPT',
  enable: true,
})

/** newRule returns the body that creates it, without empty fields. */
export function newRule(rule: Written): components['schemas']['FirewallRuleIn'] {
  const texts = Object.fromEntries(textFields.filter((name) => rule[name] !== '').map((name) => [name, rule[name]]))
  return { ...texts, type: rule.type, action: rule.action, enable: rule.enable ? 1 : 0 }
}

/** patch returns the changes from one rule to the other; null removes a field. */
export function patch(before: Written, after: Written): components['schemas']['FirewallRulePatch'] {
  const texts = textFields.filter((name) => before[name] !== after[name]).map((name) => [name, after[name] || null])
  return {
    ...Object.fromEntries(texts),
    ...(before.type === after.type ? {} : { type: after.type }),
    ...(before.enable === after.enable ? {} : { enable: after.enable ? 1 : 0 }),
  }
}

/** patchOfDraft returns the same for a draft: an empty text removes a field. */
export function patchOfDraft(before: Written, after: Written): DraftRule {
  return Object.fromEntries(Object.entries(patch(before, after)).map(([name, value]) => [name, value ?? ''])) as DraftRule
}

const words: [TextField, string][] = [
  ['macro', ''],
  ['proto', ''],
  ['source', 'from '],
  ['sport', 'sport '],
  ['dest', 'to '],
  ['dport', 'dport '],
  ['icmp_type', 'icmp '],
  ['iface', 'on '],
  ['log', 'log '],
  ['comment', '# '],
]
/** textOf returns a rule on one line. */
export function textOf(rule: Rule): string {
  const rest = words.filter(([name]) => rule[name]).map(([name, word]) => `${word}${rule[name]}`)
  return [...(rule.enable ? [] : ['(off)']), rule.type, rule.action, ...rest].join(' ')
}

/** Row is a rule of a list, and whether a draft has added or changed it. */
export interface Row {
  rule: Rule
  changed: boolean
}

const absent = Object.fromEntries(textFields.map((name) => [name, null])) as Pick<Rule, Exclude<TextField, 'action'>>

/** rulesWith returns the rules after these changes of their scope, in order. Changes that no longer match a rule are left out. */
export function rulesWith(rules: readonly Rule[], changes: readonly Change[]): Row[] {
  let list: Row[] = rules.map((rule) => ({ rule, changed: false }))
  for (const { action, pos = 0, to = 0, rule } of changes) {
    const here = list[pos]
    const fields = Object.fromEntries(
      Object.entries(rule ?? {}).map(([name, value]) => [name, value === '' ? null : value]),
    ) as Partial<Rule>
    if (action === 'create_rule') {
      const made = { ...absent, type: 'in', action: '', enable: 0, pos: 0, digest: null, ...fields } as Rule
      list.splice(pos, 0, { rule: made, changed: true })
    } else if (!here) continue
    else if (action === 'change_rule') list[pos] = { rule: { ...here.rule, ...fields }, changed: true }
    else if (action === 'delete_rule') list.splice(pos, 1)
    else if (action === 'move_rule') {
      list.splice(pos, 1)
      list.splice(to, 0, { ...here, changed: true })
    }
  }
  list = list.map((row, pos) => ({ ...row, rule: { ...row.rule, pos } }))
  return list
}

/** aliasesWith returns the aliases after these changes. */
export function aliasesWith(aliases: readonly Alias[], changes: readonly Change[]): Alias[] {
  const all = new Map(aliases.map((one) => [one.name, one]))
  for (const { action, name = '', cidr, comment } of changes) {
    const before = all.get(name)
    if (action === 'delete_alias') all.delete(name)
    else if (action === 'create_alias' || (action === 'change_alias' && before))
      all.set(name, {
        name,
        digest: null,
        cidr: cidr || (before?.cidr ?? ''),
        comment: comment === undefined ? (before?.comment ?? null) : comment || null,
      })
  }
  return [...all.values()]
}

/** setsWith returns the IP sets after these changes. */
export function setsWith(sets: readonly IPSet[], changes: readonly Change[]): IPSet[] {
  const all = new Map(sets.map((one) => [one.name, one]))
  for (const { action, name = '', comment } of changes) {
    if (action === 'delete_ipset') all.delete(name)
    else if (action === 'create_ipset') all.set(name, { name, comment: comment || null, digest: null })
  }
  return [...all.values()]
}

/** membersWith returns the members of a set after these changes. */
export function membersWith(members: readonly Member[], set: string, changes: readonly Change[]): Member[] {
  const all = new Map(members.map((one) => [one.cidr, one]))
  for (const change of changes.filter(({ name }) => name === set)) {
    if (change.action === 'delete_ipset' || change.action === 'create_ipset') all.clear()
    for (const { cidr, nomatch, comment } of change.members ?? []) {
      if (change.action === 'remove_member') all.delete(cidr)
      else all.set(cidr, { cidr, nomatch: nomatch ? 1 : 0, comment: comment || null, digest: null })
    }
  }
  return [...all.values()]
}

/** optionsWith returns the options after these changes; an empty text is an option that is not set. */
export function optionsWith(options: Options, changes: readonly Change[]): Options {
  const own = new Map<string, unknown>(Object.entries(options))
  const other = new Map(Object.entries(options.other))
  for (const { action, options: set = {} } of changes) {
    if (action !== 'change_options') continue
    for (const [name, text] of Object.entries(set)) {
      if (name in options && name !== 'other')
        own.set(name, text === '' ? null : /^(enable|dhcp|ndp|radv|macfilter|ipfilter)$/.test(name) ? Number(text) : text)
      else if (text === '') other.delete(name)
      else other.set(name, text)
    }
  }
  return { ...Object.fromEntries(own), other: Object.fromEntries(other) } as unknown as Options
}

/** named returns the names of aliases and sets that these rules and members use, in the form for comparison: without case. */
export function named(rules: readonly Rule[], members: readonly Member[] = []): (name: string) => boolean {
  const found = new Set<string>()
  const take = (text: string | null): void => {
    for (const part of (text ?? '').split(','))
      found.add(
        part
          .trim()
          .replace(/^!?\+?/, '')
          .toLowerCase(),
      )
  }
  for (const { source, dest } of rules) {
    take(source)
    take(dest)
  }
  for (const { cidr } of members) take(cidr)
  // A name may have its scope as prefix.
  const bare = new Set([...found].map((one) => one.slice(one.lastIndexOf('/') + 1)))
  return (name) => found.has(name.toLowerCase()) || bare.has(name.toLowerCase())
}
