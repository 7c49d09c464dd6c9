import { expect, test } from 'vitest'
import { stateOf, type Alert } from '../../live/alerts.svelte'
import { grouped } from './groups'
import { allThings, covers, words, type Scope, type Things } from './rules/scope'
import { replay } from './rules/replay'
import { isMeasured, metricsOf, targetOf, valuesOf, written } from './values'

const now = Date.parse('2026-03-01T12:00:00Z')

function alert(id: number, more: Partial<Alert> = {}): Alert {
  const target = { kind: 'vm', id, name: `web-${id}`, node: 'alpha' }
  const raised = {
    raised_at: '2026-03-01T11:00:00Z',
    acknowledged_at: null,
    silenced_until: null,
    resolved_at: null,
    window_id: null,
  }
  return { id, severity: 'warning', host_id: 1, target, ...raised, ...more } as Alert
}

test('the state of an alert: over, silenced, looked at, or nobody looks at it', () => {
  const at = '2026-03-01T11:30:00Z'
  expect(stateOf(alert(1), now)).toBe('open')
  expect(stateOf(alert(1, { acknowledged_at: at }), now)).toBe('acknowledged')
  expect(stateOf(alert(1, { acknowledged_at: at, silenced_until: '2026-03-01T13:00:00Z' }), now)).toBe('silenced')
  expect(stateOf(alert(1, { silenced_until: at }), now)).toBe('open')
  expect(stateOf(alert(1, { window_id: 3 }), now)).toBe('silenced')
  expect(stateOf(alert(1, { window_id: 3, resolved_at: at }), now)).toBe('resolved')
})

test('alerts stand by host and node, the worst group and the worst alert first', () => {
  const node = { kind: 'node', id: 1, name: 'beta', node: 'beta' }
  const all = [
    alert(1),
    alert(2, { severity: 'critical', target: node }),
    alert(3, { severity: 'info', host_id: null, target: { kind: 'service', id: 0, name: 'service', node: '' } }),
    alert(4, { raised_at: '2026-03-01T11:30:00Z' }),
    alert(5, { target: { kind: 'vm', id: 5, name: 'db', node: 'beta' } }),
  ]
  expect(grouped(all).map(({ key, alerts }) => [key, alerts.map((one) => one.id)])).toEqual([
    ['1/beta', [2, 5]],
    ['1/alpha', [4, 1]],
    ['/', [3]],
  ])
})

test('values are in the unit of the rule, and what is not known stays so', () => {
  const series = [
    { target: 'vm:3', metric: 'memory', unit: 'bytes', points: [512, null, 768, 100] },
    { target: 'vm:3', metric: 'memory_total', unit: 'bytes', points: [1024, 1024, null, 0] },
    { target: 'vm:3', metric: 'cpu', unit: 'ratio', points: [0.5, null] },
    { target: 'vm:3', metric: 'net_in', unit: 'bytes_per_second', points: [2048] },
  ] as unknown as Parameters<typeof valuesOf>[2]
  expect(valuesOf('memory', 'vm:3', series)).toEqual([50, null, null, null])
  expect(valuesOf('cpu', 'vm:3', series)).toEqual([50, null])
  expect(valuesOf('net_in', 'vm:3', series)).toEqual([2048])
  expect(valuesOf('cpu', 'vm:4', series)).toEqual([])
  expect([isMeasured('disk'), isMeasured('host_away'), isMeasured('toString')]).toEqual([true, false, false])
  expect(metricsOf('disk')).toEqual(['disk', 'disk_total'])
  expect(written(97.44, 'percent')).toBe('97.4 %')
  expect(written(1536, 'bytes_per_second')).toBe('1.5 KiB/s')
  expect([written(7, 'days'), written(90, 'minutes'), written(30, 'seconds'), written(null, 'days')]).toEqual([
    '7 d',
    '1 h 30 min',
    '30 s',
    '–',
  ])
})

test('what an alert is about, in the words of the metrics', () => {
  const of = (kind: string, name = '', node = ''): string | undefined => targetOf({ kind, id: 2, name, node })
  expect([of('vm'), of('app'), of('host'), of('container'), of('cluster')]).toEqual([
    'vm:2',
    'app:2',
    'host:2',
    undefined,
    undefined,
  ])
  expect([of('node', 'alpha', 'alpha'), of('storage', 'nas'), of('storage', 'local', 'alpha')]).toEqual([
    'node:2/alpha',
    'storage:2/nas',
    'storage:2/local/alpha',
  ])
})

test('a rule fires when a breach has lasted, and is over when that has', () => {
  const levels = { threshold: 90, clear: 80, for_s: 900, clear_for_s: 600 }
  const at = (...values: (number | null)[]): [number, number | null][] =>
    replay(values, 0, 600, levels).map((one) => [one.at, one.until])
  expect(at(95, 95)).toEqual([]) // ten minutes
  expect(at(95, 95, 95)).toEqual([[1200, null]])
  expect(at(95, 85, 95, 95, 95)).toEqual([[2400, null]]) // it did not last at first
  expect(at(95, null, 95, 95, 95)).toEqual([[2400, null]]) // unknown whether it lasted
  expect(at(95, 95, 95, 70, 70)).toEqual([[1200, 2400]])
  expect(at(95, 95, 95, 70, 85, 70, 70)).toEqual([[1200, 3600]]) // between the two levels it is not over
  expect(at(95, 95, 95, 70, null, 70)).toEqual([[1200, 3000]])
  expect(at(95, 95, 95, 70, 70, 95, 95, 95)).toEqual([
    [1200, 2400],
    [4200, null],
  ])
  expect(replay([95, 70, 95, 70], 0, 600, { threshold: 90, clear: 90, for_s: 0, clear_for_s: 0 })).toEqual([
    { at: 0, until: 600 },
    { at: 1200, until: 1800 },
  ])
})

test('a rule is about what everything given fits', () => {
  const guest = { template: false, team_id: 1, host_id: 1, tags: [] as string[], app_id: null as number | null }
  const things = {
    guests: [
      { ...guest, id: 3, kind: 'vm', name: 'web', tags: ['prod'] },
      { ...guest, id: 4, kind: 'container', name: 'db', app_id: 9, team_id: 2, host_id: 2 },
      { ...guest, id: 5, kind: 'container', name: 'plain' },
      { ...guest, id: 6, kind: 'vm', name: 'golden', template: true },
    ],
    hosts: [
      { id: 1, name: 'one', team_id: 1, cluster: { id: 7 } },
      { id: 2, name: 'two', team_id: 2, cluster: { id: 7 } },
    ],
    nodes: [{ node: 'alpha', host_id: 1, cluster_id: 7, team_id: 1 }],
    storages: [
      { name: 'nas', host_id: 1, cluster_id: 7, shared: true, nodes: [] },
      { name: 'local', host_id: 1, cluster_id: 7, shared: false, nodes: [{ node: 'alpha' }, { node: 'beta' }] },
    ],
  } as unknown as Things
  const all = allThings(things, ['vm', 'app', 'container', 'node', 'host', 'storage'])
  const named = (on: Partial<Scope>): string[] =>
    all
      .filter((one) => covers({ team_id: null, host_id: null, kinds: [], tags: [], targets: [], ...on }, one))
      .map((one) => one.name)
  expect(named({})).toEqual(['web', 'db', 'plain', 'one', 'two', 'alpha', 'nas', 'local (alpha)', 'local (beta)'])
  expect(named({ tags: ['prod', 'test'] })).toEqual(['web'])
  expect(named({ team_id: 2 })).toEqual(['db', 'two'])
  expect(named({ host_id: 2, kinds: ['app'] })).toEqual(['db'])
  expect(named({ targets: ['app:9', 'vm:5', 'node:2/alpha', 'storage:2/local', 'storage:1/nas'] })).toEqual([
    'db',
    'alpha',
    'nas',
    'local (alpha)',
    'local (beta)',
  ])
  expect(named({ targets: ['storage:1/local/beta'] })).toEqual(['local (beta)'])
  expect(all.map((one) => one.metric)).toEqual([
    ...['vm:3', 'app:9', undefined, 'host:1', 'host:2', 'node:1/alpha'],
    ...['storage:1/nas', 'storage:1/local/alpha', 'storage:1/local/beta'],
  ])
  expect(words(' a, b ,,a ')).toEqual(['a', 'b'])
})
