import { expect, test } from 'vitest'
import type { components } from '../../api/schema'
import type { Job } from '../../live/jobs.svelte'
import { complete, story } from './story'

type Row = components['schemas']['AuditRow']
type Alert = components['schemas']['Alert']

const time = (minute: number): string => new Date(Date.UTC(2026, 0, 31, 12, minute)).toISOString()
const job = (id: number, kind: string, from: number, to: number | null, more: Partial<Job> = {}): Job =>
  ({
    id,
    kind,
    status: to === null ? 'running' : 'succeeded',
    target: { kind: 'vm', id: 3, name: 'web-1' },
    requested_by: { id: 1, email: 'anna@example.com' },
    schedule_id: null,
    error: '',
    params: {},
    created_at: time(from),
    finished_at: to === null ? null : time(to),
    duration_s: to === null ? null : (to - from) * 60,
    ...more,
  }) as Job
const row = (id: number, action: string, at: number, more: Partial<Row> = {}): Row =>
  ({
    id,
    at: time(at),
    actor_type: 'user',
    actor_email: 'anna@example.com',
    action,
    result: 'ok',
    error: null,
    job_id: null,
    details: {},
    ...more,
  }) as Row
const alert = (id: number, at: number, over: number | null): Alert =>
  ({
    id,
    message: 'CPU of web-1 is at 97 %',
    severity: 'critical',
    raised_at: time(at),
    resolved_at: over === null ? null : time(over),
  }) as Alert

test('what started a job is told with it, and a key by its name', () => {
  const told = story(
    [job(7, 'vm.stop', 10, 11), job(8, 'vm.start', 13, 14, { schedule_id: 4, requested_by: null })],
    [
      row(1, 'vm.stop', 10, { job_id: 7, actor_type: 'api_key', details: { key_name: 'night watch' } }),
      row(2, 'vm.change_options', 5),
    ],
    [],
  )
  expect(
    told.map(({ key, chapter, verb, who, owner, schedule, back }) => [key, chapter, verb, who, owner, schedule, back]),
  ).toEqual([
    ['job 8', 'power', 'start', '', '', 4, undefined],
    ['job 7', 'power', 'stop', 'night watch', 'anna@example.com', null, 180],
    ['row 2', 'change', 'change_options', 'anna@example.com', '', null, undefined],
  ])
})

test('what was refused or failed says so, and what runs is not done', () => {
  const told = story(
    [
      job(7, 'vm.snapshot_create', 3, 4, { status: 'failed', error: 'no space', params: { name: 'before' } }),
      job(8, 'vm.stop', 5, null),
    ],
    [
      row(3, 'vm.delete', 2, { result: 'refused', error: 'confirm_required' }),
      row(4, 'vm.stop', 1, { result: 'failed', job_id: 9, error: 'timeout' }),
    ],
    [],
  )
  expect(told.map(({ chapter, verb, name, status, text }) => [chapter, verb, name, status, text])).toEqual([
    ['power', 'stop', '', 'running', ''],
    ['snapshot', 'snapshot_create', 'before', 'failed', 'no space'],
    ['refused', 'delete', '', 'refused', 'confirm_required'],
    ['refused', 'stop', '', 'failed', 'timeout'],
  ])
})

test('alerts are told once, with how long they were', () => {
  expect(story([], [], [alert(1, 0, 20), alert(2, 30, null)]).map(({ key, took, severity }) => [key, took, severity])).toEqual([
    ['alert 2', null, 'critical'],
    ['alert 1', 1200, 'critical'],
  ])
})

test('a backup that no job of ours made is told, one of a job is not told twice', () => {
  expect(story([], [], [], { backup_at: time(8) }).map(({ verb }) => verb)).toEqual(['backup_found'])
  expect(story([job(1, 'backup.run', 7, 9)], [], [], { backup_at: time(8) }).map(({ verb }) => verb)).toEqual(['backup_run'])
  expect(story([], [], [], { backup_at: null })).toEqual([])
})

test('kinds of others, and odd details, are told as they are', () => {
  const odd = story(
    [job(1, 'vm.constructor', 0, 1, { params: { name: { a: 1 } } as never }), job(2, 'odd', 2, 3)],
    [row(1, '<b>', 4, { details: null, actor_email: null }), row(2, 'vm.x', 5, { details: 'text' })],
    [],
  )
  expect(odd.map(({ verb, name, chapter, who }) => [verb, name, chapter, who])).toEqual([
    ['x', '', 'change', 'anna@example.com'],
    ['<b>', '', 'change', ''],
    ['odd', '', 'change', 'anna@example.com'],
    ['constructor', '', 'change', 'anna@example.com'],
  ])
})

test('it is told as far back as all of its lists are loaded', () => {
  expect(complete([])).toBe(-Infinity)
  expect(
    complete([
      { oldest: 5, more: true },
      { oldest: 9, more: false },
      { oldest: 7, more: true },
    ]),
  ).toBe(7)
})
