import { expect, test } from 'vitest'
import { worstFirst, type Coverage } from './backups'

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
  ]
  expect(all.sort(worstFirst).map(({ guest_id }) => guest_id)).toEqual([4, 7, 8, 3, 6, 2, 5, 1])
})
