// A template of rules in an editor.
import { command, type Command } from '../../api/client'
import type { components } from '../../api/schema'
import { newRule, rulesWith, textOf, type Written } from './rules'
import type { Change, Rule } from './scope'

export type Template = components['schemas']['Template']
type Content = Template['content']
type DraftRule = NonNullable<Change['rule']>

/** Edited is a template without the fields that the service adds. */
export interface Edited {
  name: string
  description: string
  shared: boolean
  content: Content
}

export const editedOf = ({ name, description, shared, content }: Template): Edited => ({
  name,
  description: description ?? '',
  shared,
  content,
})

/** rulesOf returns the rules in the form of a firewall's rules. */
export const rulesOf = (content: Content): Rule[] =>
  rulesWith(
    [],
    content.rules.map((rule, pos) => ({ scope: { kind: 'cluster' }, action: 'create_rule', pos, rule })),
  ).map(({ rule }) => rule)

/** withRule puts a rule at an index: in place of an existing one, or at the end. */
export const withRule = (content: Content, pos: number, rule: Written): Content => ({
  ...content,
  rules: content.rules.toSpliced(pos, 1, newRule(rule) as DraftRule),
})

export const withoutRule = (content: Content, pos: number): Content => ({ ...content, rules: content.rules.toSpliced(pos, 1) })

/** withMoved moves a rule to another index. */
export const withMoved = (content: Content, pos: number, to: number): Content => ({
  ...content,
  rules: content.rules.toSpliced(pos, 1).toSpliced(to, 0, content.rules[pos]!),
})

/** Besides is an object that belongs to the rules: an alias, a set or an option. */
export interface Besides {
  kind: 'alias' | 'set' | 'option'
  name: string
  value: string
}

export const besidesOf = ({ aliases = [], ipsets = [], options = {} }: Content): Besides[] => [
  ...aliases.map(({ name, cidr }): Besides => ({ kind: 'alias', name, value: cidr })),
  ...ipsets.map(({ name, members = [] }): Besides => ({
    kind: 'set',
    name,
    value: members.map(({ cidr, nomatch }) => (nomatch ? `!${cidr}` : cidr)).join(', '),
  })),
  ...Object.entries(options).map(([name, value]): Besides => ({ kind: 'option', name, value })),
]

/** without removes one of these objects. */
export function without(content: Content, { kind, name }: Besides): Content {
  if (kind === 'alias') return { ...content, aliases: (content.aliases ?? []).filter((one) => one.name !== name) }
  if (kind === 'set') return { ...content, ipsets: (content.ipsets ?? []).filter((one) => one.name !== name) }
  return { ...content, options: Object.fromEntries(Object.entries(content.options ?? {}).filter(([key]) => key !== name)) }
}

/** Parts are the units that are chosen separately when two people have edited a template. */
export const parts = ['name', 'description', 'shared', 'rules', 'besides'] as const
export type Part = (typeof parts)[number]

/** textsOf returns the parts as readable text. */
export const textsOf = ({ name, description, shared, content }: Edited, yes: (is: boolean) => string): Record<Part, string> => ({
  name,
  description,
  shared: yes(shared),
  rules: rulesOf(content)
    .map((rule, i) => `${i + 1}: ${textOf(rule)}`)
    .join('; '),
  besides: besidesOf(content)
    .map((one) => `${one.name}: ${one.value}`)
    .join('; '),
})

/** taken returns a template with one part of another. */
export function taken(into: Edited, from: Edited, part: Part): Edited {
  const { rules, ...besides } = from.content
  if (part === 'rules') return { ...into, content: { ...into.content, rules } }
  if (part === 'besides') return { ...into, content: { ...besides, rules: into.content.rules } }
  return { ...into, [part]: from[part] }
}

/** replaceCommand returns the request that replaces this version of the template. */
export const replaceCommand = (template: Template, now: Edited): Command<Template> =>
  command('put', '/api/v1/firewall/templates/{template_id}', {
    path: { template_id: template.id },
    body: {
      version: template.version,
      name: now.name.trim(),
      ...(now.description ? { description: now.description } : {}),
      ...(now.shared ? { shared: true } : {}),
      content: now.content,
    },
  })
