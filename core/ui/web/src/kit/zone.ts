// Times as people type them, on the clock of a zone.
import { inOrder } from './figures'

/** onClock is a time on the zone's clock, as a field for date and time has it; empty for what is no time. */
export function onClock(iso: string, zone: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? '' : inOrder(date, zone).replace(' ', 'T').slice(0, 16)
}

/** offset is how far the zone's clock is ahead of UTC at a moment, in milliseconds. */
function offset(at: number, zone: string): number {
  const seconds = Math.floor(at / 1000) * 1000
  return Date.parse(inOrder(new Date(seconds), zone).replace(' ', 'T') + 'Z') - seconds
}

/**
 * instant is the moment at which the zone's clock shows this, in UTC; undefined for what is no time. Of a time that comes twice it is the
 * first, and one that is skipped is moved on by the gap.
 */
export function instant(clock: string, zone: string): string | undefined {
  const wall = Date.parse(clock + (clock.length === 16 ? ':00Z' : 'Z'))
  if (Number.isNaN(wall)) return undefined
  const day = 86_400_000
  const [before, after] = [offset(wall - day, zone), offset(wall + day, zone)]
  const fits = [wall - before, wall - after].filter((at) => at + offset(at, zone) === wall)
  return new Date(fits.length ? Math.min(...fits) : wall - before).toISOString().replace('.000Z', 'Z')
}
