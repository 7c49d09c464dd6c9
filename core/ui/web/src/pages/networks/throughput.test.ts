import { expect, test } from 'vitest'
import { flowOf, sum, type Series } from './throughput'

const one = (target: string, name: string, metric: string, points: (number | null)[]) => ({
  target,
  name,
  metric,
  unit: 'bytes_per_second' as const,
  points,
})
const series = {
  from: '2026-01-01T00:00:00Z',
  step_s: 30,
  series: [
    one('host:1', 'a', 'net_in', [1, 2, null]),
    one('host:1', 'a', 'net_out', [10, null, null]),
    one('host:2', 'b', 'net_in', [100, null, null]),
    one('host:2', 'b', 'net_out', [1000, 2000, null]),
    one('host:3', 'c', 'net_in', [null, null, null]),
    one('host:3', 'c', 'net_out', [null, null, null]),
  ],
} as unknown as Series

test('nothing known is no zero', () => {
  expect(sum([])).toEqual([])
  expect(
    sum([
      [1, null, null],
      [2, 3, null],
    ]),
  ).toEqual([3, 3, null])
})

test('hosts are added up, and stand in the order of their traffic', () => {
  const begin = Date.parse('2026-01-01T00:00:00Z') / 1000
  expect(flowOf(series)).toEqual({
    times: [begin, begin + 30, begin + 60],
    in: [101, 2, null],
    out: [1010, 2000, null],
    parts: [
      { target: 'host:2', name: 'b', in: 100, out: 2000 },
      { target: 'host:1', name: 'a', in: 2, out: 10 },
      { target: 'host:3', name: 'c', in: null, out: null },
    ],
  })
  expect(flowOf(series, new Set([1])).parts.map(({ name }) => name)).toEqual(['a'])
  expect(flowOf(series, new Set())).toEqual({ times: [], in: [], out: [], parts: [] })
})
