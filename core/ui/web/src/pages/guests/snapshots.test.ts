import { expect, test } from 'vitest'
import { tree, type Snapshot } from './snapshots'

const make = (name: string, parent: string | null, hour = 0): Snapshot => ({
  name,
  parent,
  description: '',
  snaptime: `2026-01-01T${String(hour).padStart(2, '0')}:00:00Z`,
  vmstate: false,
  incomplete: false,
})
const drawn = (...all: Snapshot[]): string[] => tree(all).map(({ snapshot, depth }) => '-'.repeat(depth) + snapshot.name)

test('snapshots stand below those that they come of, by age', () => {
  expect(drawn(make('c', 'a', 3), make('b', 'a', 2), make('d', 'b', 4), make('a', null, 1))).toEqual(['a', '-b', '--d', '-c'])
})

test('no snapshot is lost, whatever a hypervisor says of parents', () => {
  expect(
    drawn(make('a', 'gone'), make('b', 'b'), make('c', 'd', 1), make('d', 'c', 2))
      .map((one) => one.replaceAll('-', ''))
      .sort(),
  ).toEqual(['a', 'b', 'c', 'd'])
  const deep = Array.from({ length: 2000 }, (_, i) => make(`s${i}`, i ? `s${i - 1}` : null, 1))
  expect(tree(deep)).toHaveLength(2000)
})
