// The hosts that the user may see: loaded when a page first needs them, then updated by the feed.
import { api } from '../api/client'
import { asProblem, type Problem } from '../api/problem'
import type { components } from '../api/schema'
import { knowTokens } from '../app/may'
import { listen, type Change } from './feed.svelte'

export type Host = components['schemas']['Host']

/** The hosts are plain objects; tick changes with any of them. A changed host is a new object. */
export const hosts = $state({ tick: 0, loaded: false, problem: undefined as Problem | undefined })

let byId = new Map<number, Host>()
/** host returns one host; undefined if it no longer exists or is not visible. */
export const host = (id: number): Host | undefined => byId.get(id)
/** allHosts returns the hosts, sorted by name. */
export const allHosts = (): Host[] => [...byId.values()].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
knowTokens((id) => {
  void hosts.tick
  return byId.get(id)
})
let early: Change[] | undefined
let started = false
let loadedAt = 0
/** When a page opens, older data is reloaded: the feed does not report every response of a host. In milliseconds. */
const old = 30_000

/** startHosts loads the hosts for a page, unless that was done just now. */
export function startHosts(): void {
  if (started) {
    if (hosts.loaded && Date.now() - loadedAt > old) void loadHosts()
    return
  }
  started = true
  listen({ changes: (changes) => (early ? early.push(...changes) : apply(changes)), reset: () => void loadHosts() })
  void loadHosts()
}

/** loadHosts reloads the hosts. Changes that arrive in the meantime are applied afterwards. */
export async function loadHosts(): Promise<void> {
  loadedAt = Date.now()
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

/** takeHost updates a host from a response. */
export function takeHost(one: Host): void {
  byId.set(one.id, one)
  hosts.tick++
}

/** dropHost removes a host. */
export function dropHost(id: number): void {
  byId.delete(id)
  hosts.tick++
}

let counting: ReturnType<typeof setTimeout> | undefined
/** The feed does not report the number of nodes and guests of a host: reload it after its first poll. */
function count(): void {
  clearTimeout(counting)
  counting = setTimeout(() => void loadHosts(), 1000)
}

/** answered takes the time of a poll as the last response of the only host of its cluster. */
function answered({ id, at }: Change): boolean {
  const members = [...byId.values()].filter((one) => one.cluster?.id === id)
  const [only] = members
  if (!at || !only || members.length > 1 || only.status !== 'online') return false
  byId.set(only.id, { ...only, ok_at: at, polled_at: at })
  return true
}

function apply(changes: Change[]): void {
  let moved = false
  for (const change of changes) {
    if (change.kind === 'figures') moved = answered(change) || moved
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
