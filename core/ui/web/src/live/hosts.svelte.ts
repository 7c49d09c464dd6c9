// The hosts that one may see: loaded when a page first needs them, then kept by the feed.
import { api } from '../api/client'
import { asProblem, type Problem } from '../api/problem'
import type { components } from '../api/schema'
import { knowTokens } from '../app/may'
import { listen, type Change } from './feed.svelte'

export type Host = components['schemas']['Host']

/** The hosts are plain; tick moves with any of them. An object is replaced when it changes. */
export const hosts = $state({ tick: 0, loaded: false, problem: undefined as Problem | undefined })

let byId = new Map<number, Host>()
/** host is one of them; undefined when it is gone, or not to be seen. */
export const host = (id: number): Host | undefined => byId.get(id)
/** allHosts are the hosts, by their names. */
export const allHosts = (): Host[] => [...byId.values()].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
knowTokens((id) => {
  void hosts.tick
  return byId.get(id)
})
let early: Change[] | undefined
let started = false

/** startHosts loads the hosts, once. */
export function startHosts(): void {
  if (started) return
  started = true
  listen({ changes: (changes) => (early ? early.push(...changes) : apply(changes)), reset: () => void loadHosts() })
  void loadHosts()
}

/** loadHosts loads them anew. What changes meanwhile is applied after it. */
export async function loadHosts(): Promise<void> {
  early ??= []
  try {
    const list = await api.get('/api/v1/hosts')
    byId = new Map(list.map((one) => [one.id, one]))
    hosts.problem = undefined
    hosts.loaded = true
  } catch (caught) {
    hosts.problem = asProblem(caught)
  }
  const changes = early ?? []
  early = undefined
  apply(changes)
  hosts.tick++
}

/** takeHost is told of a host as an answer has it. */
export function takeHost(one: Host): void {
  byId.set(one.id, one)
  hosts.tick++
}

/** dropHost is told that one is removed. */
export function dropHost(id: number): void {
  byId.delete(id)
  hosts.tick++
}

let counting: ReturnType<typeof setTimeout> | undefined
/** What stands at a host is not among its changes: it is loaded anew when the host has been polled for the first time. */
function count(): void {
  clearTimeout(counting)
  counting = setTimeout(() => void loadHosts(), 1000)
}

function apply(changes: Change[]): void {
  let moved = false
  for (const change of changes) {
    if (change.kind !== 'host') continue
    const before = byId.get(change.id)
    if (change.gone) moved = byId.delete(change.id) || moved
    else if (before || change.whole) {
      byId.set(change.id, { ...before, ...change.set } as Host)
      if (!before || before.status === 'pending' || (change.set && 'cluster' in change.set)) count()
      moved = true
    }
  }
  if (moved) hosts.tick++
}
