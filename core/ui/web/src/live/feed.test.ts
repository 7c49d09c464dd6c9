import { expect, test } from 'vitest'
import { merge, type Change } from './feed.svelte'

const merged = (...changes: Change[]): Change[] => {
  const into = new Map<string, Change>()
  for (const change of changes) merge(into, change)
  return [...into.values()]
}

test('of many changes of one object the last state is left', () => {
  const guest = (more: Partial<Change>): Change => ({ kind: 'guest', id: 1, ...more })
  expect(merged(guest({ set: { name: 'a', status: 'running' } }), guest({ set: { name: 'b' } }))).toEqual([
    guest({ set: { name: 'b', status: 'running' } }),
  ])
  expect(merged(guest({ whole: true, set: { name: 'a', lock: null } }), guest({ set: { lock: 'x' } }))).toEqual([
    guest({ whole: true, set: { name: 'a', lock: 'x' } }),
  ])
  expect(merged(guest({ set: { name: 'a' } }), guest({ gone: true }))).toEqual([guest({ gone: true })])
  expect(merged(guest({ gone: true }), guest({ whole: true, set: { name: 'a' } }))).toEqual([
    guest({ whole: true, set: { name: 'a' } }),
  ])
})

test('other objects are others, and figures of a cluster replace those before', () => {
  const figures = (at: string): Change => ({ kind: 'figures', id: 1, at, guest_columns: ['id', 'cpu'], guests: [[1, 0.5]] })
  expect(
    merged(
      { kind: 'guest', id: 1, set: { name: 'a' } },
      { kind: 'job', id: 1, set: { status: 'failed' } },
      figures('a'),
      figures('b'),
    ),
  ).toEqual([{ kind: 'guest', id: 1, set: { name: 'a' } }, { kind: 'job', id: 1, set: { status: 'failed' } }, figures('b')])
})
