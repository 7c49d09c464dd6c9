// The values that rules measure, and how they are requested and formatted.
import type { components } from '../../api/schema'
import { bytes, dash, span } from '../../kit/figures'

export type Unit = components['schemas']['AlertKindInfo']['unit']
type Target = components['schemas']['AlertTarget']
type Series = components['schemas']['MetricOneSeries']

/** For each kind of rule with metrics: which metric is requested, and whether it is a fraction of the second one. */
const figures = {
  cpu: ['cpu'],
  memory: ['memory', 'memory_total'],
  disk: ['disk', 'disk_total'],
  net_in: ['net_in'],
  net_out: ['net_out'],
  disk_read: ['disk_read'],
  disk_write: ['disk_write'],
} as const
export type Measured = keyof typeof figures

/** isMeasured reports whether a kind of rule uses metrics with a history. */
export const isMeasured = (kind: string): kind is Measured => Object.hasOwn(figures, kind)

/** metricsOf returns the metrics of a kind of rule. */
export const metricsOf = (kind: Measured): string[] => [...figures[kind]]

/** valuesOf returns the values of one target in the unit of the kind: percent, or bytes per second. */
export function valuesOf(kind: Measured, target: string, series: Series[]): (number | null)[] {
  const points = (metric: string | undefined): (number | null)[] =>
    series.find((one) => one.target === target && one.metric === metric)?.points ?? []
  const [first, second] = figures[kind] as readonly [string, string?]
  const found = points(first)
  if (kind === 'cpu') return found.map((value) => (value === null ? null : value * 100))
  if (!second) return found
  const whole = points(second)
  return found.map((value, i) => (value === null || !whole[i] ? null : (100 * value) / whole[i]))
}

/** targetOf returns the name of an alert's object in the metrics; undefined if it has no history. */
export function targetOf({ kind, id, name, node }: Target): string | undefined {
  if (kind === 'vm' || kind === 'app' || kind === 'host') return `${kind}:${id}`
  if (kind === 'node') return `node:${id}/${name}`
  if (kind === 'storage') return `storage:${id}/${name}${node ? `/${node}` : ''}`
  return undefined
}

/** written formats a value with its unit. */
export function written(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return dash
  switch (unit) {
    case 'percent':
      return `${value.toFixed(1)} %`
    case 'bytes_per_second':
      return `${bytes(value)}/s`
    case 'days':
      return span(value * 86400)
    case 'minutes':
      return span(value * 60)
    case 'seconds':
      return span(value)
    default:
      return String(value)
  }
}
