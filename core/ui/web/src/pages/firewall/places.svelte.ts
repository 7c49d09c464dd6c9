// The clusters, nodes and security groups that have firewalls: loaded once, when the firewall page is first opened.
import { api } from '../../api/client'
import { asProblem, type Problem } from '../../api/problem'
import type { components } from '../../api/schema'
import type { Scope } from './scope'

type Node = components['schemas']['ClusterNode']

export const places = $state({ tick: 0, loaded: false, problem: undefined as Problem | undefined })

let nodes: Node[] = []
const groups = new Map<number, string[]>()

/** loadPlaces loads the clusters and nodes. */
export async function loadPlaces(): Promise<void> {
  try {
    nodes = await api.get('/api/v1/cluster/nodes')
    places.problem = undefined
    places.loaded = true
  } catch (caught) {
    places.problem = asProblem(caught)
  }
  places.tick++
}

/** loadGroups loads the groups of a cluster. A firewall without groups has none. */
export async function loadGroups(host: number): Promise<void> {
  try {
    const found = await api.get('/api/v1/firewall/cluster/{host_id}/groups', { path: { host_id: host } })
    groups.set(
      host,
      found.map((one) => one.group),
    )
  } catch {
    groups.set(host, []) // errors are shown where the rules are
  }
  places.tick++
}

/** clusters returns those whose nodes the user may see, by name. */
export function clusters(): Extract<Scope, { kind: 'cluster' }>[] {
  const all = new Map(nodes.map((one) => [one.cluster_id, one]))
  for (const one of nodes) if (one.is_entry) all.set(one.cluster_id, one)
  return [...all.values()]
    .map((one) => ({ kind: 'cluster' as const, host: one.host_id, team_id: one.team_id, name: one.cluster }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
}

/** nodesOf returns the nodes of a cluster, by name. */
export function nodesOf(cluster: Scope): Extract<Scope, { kind: 'node' }>[] {
  const of = nodes.find((one) => one.host_id === cluster.host)?.cluster_id
  return nodes
    .filter((one) => one.cluster_id === of)
    .map((one) => ({ kind: 'node' as const, host: cluster.host, team_id: one.team_id, node: one.node, name: one.node }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
}

/** clusterOf returns the cluster of a host. */
export function clusterOf(host: number): Extract<Scope, { kind: 'cluster' }> | undefined {
  const of = nodes.find((one) => one.host_id === host)
  return of && clusters().find((one) => nodes.some((node) => node.host_id === one.host && node.cluster_id === of.cluster_id))
}

/** groupsOf returns the groups of a cluster; undefined until they are loaded. */
export const groupsOf = (host: number): string[] | undefined => groups.get(host)
