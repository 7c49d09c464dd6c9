import { expect, test } from 'vitest'
import { instant, onClock } from './zone'

const berlin = 'Europe/Berlin'

test('what is typed is on the clock of the zone', () => {
  expect(instant('2026-01-31T12:00', 'UTC')).toBe('2026-01-31T12:00:00Z')
  expect(instant('2026-01-31T12:00', berlin)).toBe('2026-01-31T11:00:00Z')
  expect(instant('2026-07-31T12:00', berlin)).toBe('2026-07-31T10:00:00Z')
  expect(instant('2026-07-31T12:00', 'Asia/Kathmandu')).toBe('2026-07-31T06:15:00Z')
  expect(instant('2026-01-31T12:00', 'Pacific/Kiritimati')).toBe('2026-01-30T22:00:00Z')
  // A time that occurs twice: the first one. A time that does not exist: one hour later.
  expect(instant('2026-10-25T02:30', berlin)).toBe('2026-10-25T00:30:00Z')
  expect(instant('2026-03-29T02:30', berlin)).toBe('2026-03-29T01:30:00Z')
  expect(instant('', berlin)).toBeUndefined()
  expect(instant('tomorrow', berlin)).toBeUndefined()
})

test('and what is shown in its field is the same', () => {
  for (const clock of ['2026-01-31T12:00', '2026-10-25T03:00', '2026-03-29T03:00', '2025-12-31T23:59']) {
    expect(onClock(instant(clock, berlin)!, berlin)).toBe(clock)
  }
  expect(onClock('nonsense', berlin)).toBe('')
})
