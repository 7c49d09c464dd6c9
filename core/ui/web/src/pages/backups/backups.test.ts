import { expect, test } from 'vitest'
import { leftOut, worstFirst, type Coverage } from './backups'

const one = (guest_id: number, state: Coverage['state'], age_s: number | null): Coverage =>
  ({ guest_id, state, age_s }) as unknown as Coverage

test('what is too old comes first, and of it what was never backed up', () => {
  const all = [
    one(1, 'exempt', null),
    one(2, 'covered', 9000),
    one(3, 'stale', 5000),
    one(4, 'stale', null),
    one(5, 'covered', 100),
    one(6, 'unknown', null),
    one(7, 'stale', null),
    one(8, 'stale', 6000),
    one(9, 'partial', 100),
  ]
  expect(all.sort(worstFirst).map(({ guest_id }) => guest_id)).toEqual([4, 7, 8, 3, 6, 9, 2, 5, 1])
})

test('what backups leave out is named', () => {
  const volume = (key: string, path: string | null) => ({
    key,
    path,
    storage: 'local',
    volume: `local:${key}`,
    size_gb: null,
    included_at: null,
  })
  const of = { left_out: [volume('mp0', '/srv/data'), volume('scsi1', null)] } as unknown as Coverage
  expect(leftOut(of)).toBe('mp0 (/srv/data), scsi1')
})
