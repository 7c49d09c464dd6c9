import type { Guest } from '../../live/guests.svelte'
import type { Key } from '../../words/words'

type Value = string | number | null

export interface GuestColumn {
  key: string
  title: Key
  /** The share of the width, as in the columns of a grid. */
  width: string
  value: (guest: Guest) => Value
  number?: boolean
  /** Its values change all the time: a list sorted by it must not jump under the pointer. */
  moving?: boolean
}

const part = (used: number | null, whole: number | null): number | null => (used === null || !whole ? null : used / whole)

export const columns: GuestColumn[] = [
  { key: 'name', title: 'guests.name', width: 'minmax(9rem, 2fr)', value: (g) => g.name },
  { key: 'status', title: 'guests.status', width: '7.5rem', value: (g) => g.status },
  { key: 'kind', title: 'guests.kind', width: '6.5rem', value: (g) => (g.app_id === null ? g.kind : 'app') },
  { key: 'vmid', title: 'guests.vmid', width: '6rem', value: (g) => g.vmid ?? g.guest_ref, number: true },
  { key: 'host', title: 'guests.host', width: 'minmax(5rem, 1fr)', value: (g) => g.host },
  { key: 'node', title: 'guests.node', width: 'minmax(5rem, 1fr)', value: (g) => g.node },
  { key: 'cpu', title: 'guests.cpu', width: '5rem', value: (g) => g.cpu, number: true, moving: true },
  {
    key: 'memory',
    title: 'guests.memory',
    width: '6rem',
    value: (g) => part(g.memory_bytes, g.memory_total_bytes),
    number: true,
    moving: true,
  },
  { key: 'uptime', title: 'guests.uptime', width: '8rem', value: (g) => g.uptime_s, number: true, moving: true },
  { key: 'tags', title: 'guests.tags', width: 'minmax(5rem, 1fr)', value: (g) => g.tags.join(' ') || null },
  { key: 'backup', title: 'guests.backup', width: '8rem', value: (g) => g.backup_at, number: true },
]

const texts = new Intl.Collator('en', { numeric: true })

/** compare orders guests by a column; missing values come last in both directions. */
export function compare(column: GuestColumn, down: boolean): (a: Guest, b: Guest) => number {
  const sign = down ? -1 : 1
  return (a, b) => {
    const x = column.value(a)
    const y = column.value(b)
    if (x === null || y === null) return x === y ? a.id - b.id : x === null ? 1 : -1
    const order = typeof x === 'number' && typeof y === 'number' ? x - y : texts.compare(String(x), String(y))
    return sign * order || a.id - b.id
  }
}
