// The traffic of the guests of hosts, added up.
import type { components } from '../../api/schema'

export type Series = components['schemas']['MetricSeries']
type Points = (number | null)[]

/** sum adds up series, point by point. A point without any known value is null. */
export function sum(lines: readonly Points[]): Points {
  const longest = Math.max(0, ...lines.map(({ length }) => length))
  return Array.from({ length: longest }, (_, i) =>
    lines.reduce<number | null>((all, line) => (line[i] == null ? all : (all ?? 0) + line[i]), null),
  )
}

/** Part is one host: its last known traffic, in bytes per second. */
export interface Part {
  target: string
  name: string
  in: number | null
  out: number | null
}

/** Flow is the sum of all hosts over time, and each of them, those with the most traffic first. */
export interface Flow {
  /** In seconds since 1970. */
  times: number[]
  in: Points
  out: Points
  parts: Part[]
}

/** flowOf returns the flow of the hosts with these IDs; all hosts without IDs. */
export function flowOf({ from, step_s: step, series }: Series, ids?: ReadonlySet<number>): Flow {
  const of = series.filter(({ target }) => !ids || ids.has(Number(target.slice('host:'.length))))
  const lines = (metric: string): Points[] => of.filter((one) => one.metric === metric).map(({ points }) => points)
  const last = (target: string, metric: string): number | null =>
    of.find((one) => one.target === target && one.metric === metric)?.points.findLast((value) => value !== null) ?? null
  const names = new Map(of.map(({ target, name }) => [target, name]))
  const parts = [...names].map(([target, name]): Part => ({
    target,
    name,
    in: last(target, 'net_in'),
    out: last(target, 'net_out'),
  }))
  const traffic = (part: Part): number => (part.in ?? 0) + (part.out ?? 0)
  return {
    times: (of[0]?.points ?? []).map((_, i) => Date.parse(from) / 1000 + i * step),
    in: sum(lines('net_in')),
    out: sum(lines('net_out')),
    parts: parts.sort((a, b) => traffic(b) - traffic(a) || a.name.localeCompare(b.name, 'en', { numeric: true })),
  }
}
