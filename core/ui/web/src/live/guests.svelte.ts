// The guests that the user may see: loaded once, then updated by the feed.
import { api } from '../api/client'
import { asProblem, type Problem } from '../api/problem'
import type { components } from '../api/schema'
import { listen, type Change } from './feed.svelte'

export type Guest = components['schemas']['GuestEntry']

/** Fields that affect only their own cell. Any other field may change which rows are shown, and in what order. */
const figures = new Set([
  'cpu',
  'memory_bytes',
  'disk_bytes',
  'uptime_s',
  'net_in_bytes',
  'net_out_bytes',
  'figures_at',
  'seen_at',
])

/**
 * The guests are plain objects, because proxies are slow for five thousand of them. Components read one of the counters: tick changes with
 * anything, shape with changes that may affect the rows and their order. A changed guest is a new object.
 */
export const guests = $state({
  tick: 0,
  shape: 0,
  loaded: false,
  problem: undefined as Problem | undefined,
})

let byId = new Map<number, Guest>()
/** guest returns one guest; undefined if it no longer exists or is not visible. */
export const guest = (id: number): Guest | undefined => byId.get(id)
export const allGuests = (): Guest[] => [...byId.values()]
let early: Change[] | undefined
let started = false

/** startGuests loads the guests, once. */
export function startGuests(): void {
  if (started) return
  started = true
  listen({ changes: (changes) => (early ? early.push(...changes) : apply(changes)), reset: () => void loadGuests() })
  void loadGuests()
}

/** loadGuests reloads the guests. Changes that arrive in the meantime are applied afterwards. */
export async function loadGuests(): Promise<void> {
  early ??= []
  try {
    const list = await api.get('/api/v1/guests')
    byId = new Map(list.map((guest) => [guest.id, guest]))
    guests.problem = undefined
    guests.loaded = true
  } catch (caught) {
    guests.problem = asProblem(caught)
  }
  const changes = early ?? []
  early = undefined
  apply(changes)
  publish(true)
}

function publish(shape: boolean): void {
  guests.tick++
  if (shape) guests.shape++
}

function apply(changes: Change[]): void {
  let moved = false
  let shape = false
  for (const change of changes) {
    if (change.kind === 'figures') moved = applyFigures(change) || moved
    if (change.kind !== 'guest') continue
    const before = byId.get(change.id)
    if (change.gone) {
      shape = byId.delete(change.id) || shape
      continue
    }
    // If a guest is not known yet, the list that is being loaded contains it.
    if (!before && !change.whole) continue
    byId.set(change.id, { ...before, ...change.set } as Guest)
    moved = true
    shape ||= !before || Object.keys(change.set ?? {}).some((field) => !figures.has(field))
  }
  if (moved || shape) publish(shape)
}

/**
 * applyFigures applies the rows of a cluster. Guests that are missing in it do not run and have no figures; the feed has reported their
 * state.
 */
function applyFigures({ guest_columns: columns = [], guests: rows = [], at }: Change): boolean {
  const id = columns.indexOf('id')
  let moved = false
  for (const row of rows) {
    const before = byId.get(Number(row[id]))
    if (!before) continue
    const next: Record<string, unknown> = { ...before, figures_at: at }
    columns.forEach((column, i) => (next[column] = row[i]))
    byId.set(before.id, next as Guest)
    moved = true
  }
  return moved
}
