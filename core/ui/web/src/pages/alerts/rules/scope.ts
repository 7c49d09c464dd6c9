// The objects in the scope of a rule, as the service decides it: those that match all conditions.
import type { components } from '../../../api/schema'
import type { Guest } from '../../../live/guests.svelte'

type Schemas = components['schemas']

/** Scope limits a rule; an empty one contains everything. */
export interface Scope {
  team_id: number | null
  host_id: number | null
  kinds: string[]
  tags: string[]
  targets: string[]
}

export interface Things {
  guests: Guest[]
  hosts: Schemas['Host'][]
  nodes: Schemas['ClusterNode'][]
  storages: Schemas['Storage'][]
}

/** Thing is one object: its names in rules and metrics, and its owner. */
export interface Thing {
  name: string
  kind: string
  /** Its names in the targets of a rule: a node has one for each host of its cluster. */
  words: string[]
  /** undefined if it has no history. */
  metric: string | undefined
  team: number | null
  host: number | null
  tags: string[]
}

/** allThings returns the objects of these kinds. */
export function allThings({ guests, hosts, nodes, storages }: Things, kinds: string[]): Thing[] {
  const ofCluster = (cluster: number): number[] => hosts.filter((one) => one.cluster?.id === cluster).map((one) => one.id)
  const teamOf = (id: number): number | null => hosts.find((one) => one.id === id)?.team_id ?? null
  const all: Thing[] = []
  for (const one of guests) {
    if (one.template) continue
    const kind = one.kind === 'vm' ? 'vm' : one.app_id === null ? 'container' : 'app'
    const word = `${kind}:${kind === 'app' ? one.app_id : one.id}`
    const metric = kind === 'container' ? undefined : word
    all.push({ name: one.name, kind, words: [word], metric, team: one.team_id, host: one.host_id, tags: one.tags })
  }
  for (const one of hosts) {
    const word = `host:${one.id}`
    all.push({ name: one.name, kind: 'host', words: [word], metric: word, team: one.team_id, host: one.id, tags: [] })
  }
  for (const one of nodes) {
    const words = ofCluster(one.cluster_id).map((id) => `node:${id}/${one.node}`)
    const metric = `node:${one.host_id}/${one.node}`
    all.push({ name: one.node, kind: 'node', words, metric, team: one.team_id, host: one.host_id, tags: [] })
  }
  for (const one of storages) {
    const places = one.shared ? [''] : one.nodes.map(({ node }) => `/${node}`)
    for (const place of places) {
      const ids = ofCluster(one.cluster_id)
      const words = ids.flatMap((id) => [`storage:${id}/${one.name}`, ...(place ? [`storage:${id}/${one.name}${place}`] : [])])
      const metric = `storage:${one.host_id}/${one.name}${place}`
      const name = place ? `${one.name} (${place.slice(1)})` : one.name
      all.push({ name, kind: 'storage', words, metric, team: teamOf(one.host_id), host: one.host_id, tags: [] })
    }
  }
  return all.filter((one) => kinds.includes(one.kind))
}

/** covers reports whether a scope contains the object. */
export const covers = (on: Scope, thing: Thing): boolean =>
  (!on.kinds.length || on.kinds.includes(thing.kind)) &&
  (on.team_id === null || on.team_id === thing.team) &&
  (on.host_id === null || on.host_id === thing.host) &&
  (!on.tags.length || on.tags.some((tag) => thing.tags.includes(tag))) &&
  (!on.targets.length || on.targets.some((target) => thing.words.includes(target)))

/** words splits a text at commas. */
export const words = (text: string): string[] => [...new Set(text.split(',').map((one) => one.trim()))].filter(Boolean)
