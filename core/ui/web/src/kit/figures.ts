// Formats numbers, sizes and times in the language of the page. A missing value is a dash.
import type { Language } from '../words/languages'
import { spoken } from '../words/spoken.svelte'

export const dash = '–'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

const numbers = new Map<string, Intl.NumberFormat>()

function numberOf(maximumFractionDigits: number, minimumFractionDigits: number, useGrouping: boolean): Intl.NumberFormat {
  const name = `${spoken.language} ${maximumFractionDigits} ${minimumFractionDigits} ${useGrouping}`
  const format =
    numbers.get(name) ?? new Intl.NumberFormat(spoken.language, { maximumFractionDigits, minimumFractionDigits, useGrouping })
  numbers.set(name, format)
  return format
}

/** number formats a number with at most this many decimals. */
export const number = (n: number, most = 0): string => numberOf(most, 0, true).format(n)

/** fixed formats a number with exactly this many decimals and no thousands separators. */
export const fixed = (n: number, decimals: number): string => numberOf(decimals, decimals, false).format(n)

/** bytes formats a size in binary units with one decimal. */
export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return dash
  let unit = 0
  for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024
  return `${fixed(n, unit === 0 ? 0 : 1)} ${units[unit]}`
}

/** percent formats a fraction from 0 to 1 as percent with one decimal. */
export const percent = (part: number | null | undefined): string =>
  part === null || part === undefined ? dash : `${fixed(part * 100, 1)} %`

/** span formats a duration in seconds with its two largest units. */
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

function formatOf(locale: string, zone: string): Intl.DateTimeFormat {
  const name = `${locale} ${zone}`
  let format = formats.get(name)
  if (!format) {
    const date = locale === iso ? 'short' : 'medium'
    format = new Intl.DateTimeFormat(locale, { timeZone: zone, dateStyle: date, timeStyle: 'medium' })
    formats.set(name, format)
  }
  return format
}

/** Swedish formats times in the order of ISO 8601. */
const iso = 'sv-SE'
/** How times are formatted. English uses an order that nobody misreads. */
const ways: Record<Language, string> = { en: iso, de: 'de-DE' }

/** absolute formats a time in a zone, in the language of the page. */
export const absolute = (date: Date, zone: string): string => formatOf(ways[spoken.language], zone).format(date)

/** inOrder formats a time in a zone in the order of ISO 8601, with a space between date and time, for code that reads it. */
export const inOrder = (date: Date, zone: string): string => formatOf(iso, zone).format(date)

const relatives = new Map<string, Intl.RelativeTimeFormat>()

function relativeOf(numeric: 'always' | 'auto'): Intl.RelativeTimeFormat {
  const name = `${spoken.language} ${numeric}`
  const format =
    relatives.get(name) ?? new Intl.RelativeTimeFormat(spoken.language, { style: numeric === 'auto' ? 'long' : 'short', numeric })
  relatives.set(name, format)
  return format
}

/** ago formats how long ago a time was, or how far ahead it is. From one day on, it is the time itself. */
export function ago(date: Date, now: number, zone: string): string {
  let seconds = Math.round((date.getTime() - now) / 1000)
  // The page updates its clock only now and then, and the service's clock may be a little ahead.
  if (seconds > 0 && seconds < 30) seconds = 0
  const size = Math.abs(seconds)
  if (size >= 86400) return absolute(date, zone)
  if (size === 0) return relativeOf('auto').format(0, 'second')
  const relative = relativeOf('always')
  if (size < 60) return relative.format(seconds, 'second')
  if (size < 3600) return relative.format(Math.trunc(seconds / 60), 'minute')
  return relative.format(Math.trunc(seconds / 3600), 'hour')
}
