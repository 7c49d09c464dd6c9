// The open alerts that are not caused by another alert. They are loaded when they are first shown, and then updated by the feed.
import { api } from '../api/client'
import { asProblem, type Problem } from '../api/problem'
import type { components } from '../api/schema'
import { listen, type Change } from './feed.svelte'

export type Alert = components['schemas']['Alert']

/** The maximum number of alerts to keep, the newest. */
const most = 500

/** The alerts are a plain array; tick changes with any of them. untold is how many more are open than are kept. */
export const alerts = $state({ tick: 0, loaded: false, untold: 0, problem: undefined as Problem | undefined })

let byId = new Map<number, Alert>()
let early: Change[] | undefined
let started = false

export const openAlerts = (): Alert[] => [...byId.values()]

/** AlertState is open (nobody has acknowledged it), acknowledged, silenced or resolved. */
export const alertStates = ['open', 'acknowledged', 'silenced', 'resolved'] as const
export type AlertState = (typeof alertStates)[number]

/** stateOf returns the state of an alert at a time. A silenced alert is silenced whether or not it is acknowledged. */
export function stateOf(one: Alert, now: number): AlertState {
  if (one.resolved_at !== null) return 'resolved'
  if (one.window_id !== null || (one.silenced_until !== null && Date.parse(one.silenced_until) > now)) return 'silenced'
  return one.acknowledged_at === null ? 'open' : 'acknowledged'
}

const belongs = (one: Alert): boolean => one.resolved_at === null && one.cause_id === null

/** startAlerts loads them, once. */
export function startAlerts(): void {
  if (started) return
  started = true
  listen({ changes: (changes) => (early ? early.push(...changes) : apply(changes)), reset: () => void loadAlerts() })
  void loadAlerts()
}

/** loadAlerts reloads them. Changes that arrive in the meantime are applied afterwards. */
export async function loadAlerts(): Promise<void> {
  early ??= []
  let total = 0
  const told = (headers: Headers): number => (total = Number(headers.get('X-Total-Count')) || 0)
  try {
    const list = await api.get('/api/v1/alerts', { query: { state: 'open', folded: 'false', per_page: most }, told })
    byId = new Map(list.map((one) => [one.id, one]))
    alerts.untold = Math.max(0, total - list.length)
    alerts.problem = undefined
    alerts.loaded = true
  } catch (caught) {
    alerts.problem = asProblem(caught)
  }
  const changes = early ?? []
  early = undefined
  apply(changes)
  alerts.tick++
}

/** takeAlert updates an alert from a response, or before the response arrives. */
export function takeAlert(one: Alert): void {
  if (belongs(one)) byId.set(one.id, one)
  else byId.delete(one.id)
  alerts.tick++
}

let waiting: ReturnType<typeof setTimeout> | undefined
/** later reloads them: an alert appeared of which only a part is known, or there is room for more. */
function later(): void {
  clearTimeout(waiting)
  waiting = setTimeout(() => void loadAlerts(), 1000)
}

function apply(changes: Change[]): void {
  let moved = false
  for (const { kind, id, gone, whole, set } of changes) {
    if (kind !== 'alert') continue
    const before = byId.get(id)
    if (gone) moved = byId.delete(id) || moved
    else if (before || whole) {
      const next = { ...before, ...set } as Alert
      if (belongs(next)) byId.set(id, next)
      else if (!byId.delete(id)) continue
      moved = true
    } else if (set && 'cause_id' in set && set.cause_id === null) later()
  }
  if (!moved) return
  if (alerts.untold && byId.size < most) later()
  alerts.tick++
}
