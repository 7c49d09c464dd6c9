// Groups alerts by place, because alerts on one node usually have one cause.
import type { Alert } from '../../live/alerts.svelte'

export interface Group {
  key: string
  /** The host; null if the alert has none, such as one about the service itself. */
  host: number | null
  node: string
  alerts: Alert[]
}

const ranks = { critical: 0, warning: 1, info: 2 } as const

/** worstFirst orders alerts by severity, and those with the same severity by age, newest first. */
export const worstFirst = (a: Alert, b: Alert): number =>
  ranks[a.severity] - ranks[b.severity] || b.raised_at.localeCompare(a.raised_at) || b.id - a.id

/** grouped returns the alerts by host and node, the worst group first. */
export function grouped(alerts: Alert[]): Group[] {
  const all = new Map<string, Group>()
  for (const one of [...alerts].sort(worstFirst)) {
    const node = one.target.kind === 'node' ? one.target.name : one.target.node
    const key = `${one.host_id ?? ''}/${node}`
    const group = all.get(key) ?? { key, host: one.host_id, node, alerts: [] }
    group.alerts.push(one)
    all.set(key, group)
  }
  return [...all.values()]
}
