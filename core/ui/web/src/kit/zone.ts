// Times as people type them, in the local time of a zone.
import { inOrder } from './figures'

/** onClock returns a time in the zone, as a date and time field needs it; empty for an invalid time. */
export function onClock(iso: string, zone: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? '' : inOrder(date, zone).replace(' ', 'T').slice(0, 16)
}

/** offset returns how far the zone is ahead of UTC at a moment, in milliseconds. */
function offset(at: number, zone: string): number {
  const seconds = Math.floor(at / 1000) * 1000
  return Date.parse(inOrder(new Date(seconds), zone).replace(' ', 'T') + 'Z') - seconds
}

/**
 * instant returns the moment in UTC at which the zone's clock shows this time; undefined for an invalid time. If the time occurs twice, it
 * is the first one; if it is skipped, it is moved by the gap.
 */
export function instant(clock: string, zone: string): string | undefined {
  const wall = Date.parse(clock + (clock.length === 16 ? ':00Z' : 'Z'))
  if (Number.isNaN(wall)) return undefined
  const day = 86_400_000
  const [before, after] = [offset(wall - day, zone), offset(wall + day, zone)]
  const fits = [wall - before, wall - after].filter((at) => at + offset(at, zone) === wall)
  return new Date(fits.length ? Math.min(...fits) : wall - before).toISOString().replace('.000Z', 'Z')
}
