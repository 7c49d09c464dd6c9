// The guests that one may see: loaded once, then kept by the feed.
import { api } from '../api/client'
import { asProblem, type Problem } from '../api/problem'
import type { components } from '../api/schema'
import { listen, type Change } from './feed.svelte'

export type Guest = components['schemas']['GuestEntry']

/** What moves in a cell only. Any other field may decide which rows are shown, and in what order. */
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
 * The guests themselves are plain, for five thousand proxies are slow. Who shows them reads one of the counters: tick moves with
 * anything, shape with what may change rows and their order. An object is replaced when it changes.
 */
export const guests = $state({
  tick: 0,
  shape: 0,
  loaded: false,
  problem: undefined as Problem | undefined,
})

let byId = new Map<number, Guest>()
/** guest is one of them; undefined when it is gone, or not to be seen. */
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

/** loadGuests loads them anew. What changes meanwhile is applied after it. */
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
    // A part of a guest that is not known yet comes with the list that is being loaded.
    if (!before && !change.whole) continue
    byId.set(change.id, { ...before, ...change.set } as Guest)
    moved = true
    shape ||= !before || Object.keys(change.set ?? {}).some((field) => !figures.has(field))
  }
  if (moved || shape) publish(shape)
}

/** applyFigures takes the rows of a cluster. What is not among them does not run, and has no figures: its state has told so. */
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
