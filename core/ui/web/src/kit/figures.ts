// Numbers, sizes and times as the page shows them. What is missing is a dash.
export const dash = '–'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** bytes is a size in binary units with one decimal. */
export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return dash
  let unit = 0
  for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024
  return `${unit === 0 ? n.toFixed(0) : n.toFixed(1)} ${units[unit]}`
}

/** percent is a part from 0 to 1, in percent with one decimal. */
export const percent = (part: number | null | undefined): string =>
  part === null || part === undefined ? dash : `${(part * 100).toFixed(1)} %`

/** span is a length of time in seconds, by its two largest units. */
export function span(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return dash
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  const parts: [number, string][] = [
    [86400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ]
  const first = parts.findIndex(([size]) => seconds >= size)
  return parts
    .slice(first, first + 2)
    .map(([size, name], i) => [Math.floor((i === 0 ? seconds : seconds % parts[first]![0]) / size), name] as const)
    .filter(([n]) => n > 0)
    .map(([n, name]) => `${n} ${name}`)
    .join(' ')
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** absolute is a time in a zone, in the order of ISO 8601. */
export function absolute(date: Date, zone: string): string {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
    formats.set(zone, format)
  }
  return format.format(date)
}

const relative = new Intl.RelativeTimeFormat('en', { style: 'short', numeric: 'always' })

const relativeNow = new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(0, 'second')

/** ago is how long ago a time is, or how far ahead; from a day on it is the time itself. */
export function ago(date: Date, now: number, zone: string): string {
  let seconds = Math.round((date.getTime() - now) / 1000)
  // The page looks at the clock now and then only, and the service's may be a little ahead.
  if (seconds > 0 && seconds < 30) seconds = 0
  const size = Math.abs(seconds)
  if (size >= 86400) return absolute(date, zone)
  if (size === 0) return relativeNow
  if (size < 60) return relative.format(seconds, 'second')
  if (size < 3600) return relative.format(Math.trunc(seconds / 60), 'minute')
  return relative.format(Math.trunc(seconds / 3600), 'hour')
}
