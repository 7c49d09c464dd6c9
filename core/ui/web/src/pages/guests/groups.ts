// Groups in the list: rows with the names of groups are between those of guests. Their numbers are below zero.
import type { Guest } from '../../live/guests.svelte'

export const groupings = ['host', 'node', 'tag', 'team'] as const
export type Grouping = (typeof groupings)[number]

export interface Group {
  name: string
  count: number
}

/** of returns the group of a guest; if it has several tags, the first one. */
const of: Record<Grouping, (guest: Guest) => string> = {
  host: (g) => g.host,
  node: (g) => g.node,
  tag: (g) => [...g.tags].sort()[0] ?? '',
  team: (g) => g.team,
}

const texts = new Intl.Collator('en', { numeric: true })

/** group puts guests below the names of their groups and keeps their order. Guests without a group come last. */
export function group(guests: Guest[], by: Grouping): { ids: number[]; groups: Map<number, Group> } {
  const members = new Map<string, number[]>()
  for (const guest of guests) {
    const name = of[by](guest)
    const all = members.get(name)
    if (all) all.push(guest.id)
    else members.set(name, [guest.id])
  }
  const ids: number[] = []
  const groups = new Map<number, Group>()
  for (const name of [...members.keys()].sort((a, b) => Number(a === '') - Number(b === '') || texts.compare(a, b))) {
    const all = members.get(name)!
    const id = -1 - groups.size
    groups.set(id, { name, count: all.length })
    ids.push(id)
    for (const one of all) ids.push(one)
  }
  return { ids, groups }
}
