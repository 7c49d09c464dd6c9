// What was done to a guest and what became of it, told as one list: of jobs, of the trail and of alerts, each once.
import type { components } from '../../api/schema'
import type { Guest } from '../../live/guests.svelte'
import type { Job } from '../../live/jobs.svelte'

type Row = components['schemas']['AuditRow']
type Alert = components['schemas']['Alert']

export const chapters = ['power', 'snapshot', 'backup', 'app', 'change', 'alert', 'refused'] as const
export type Chapter = (typeof chapters)[number]

/** Entry is one thing that happened. */
export interface Entry {
  key: string
  /** In milliseconds since 1970. */
  at: number
  chapter: Chapter
  /** What was done, as the last part of the job's kind or of the action: stop, snapshot_create. Empty for an alert. */
  verb: string
  /** Who did it: an e-mail address, or the name of a key; empty for the service itself. */
  who: string
  /** The key's owner, where it was done by a key; schedule is the one that did it. */
  owner: string
  schedule: number | null
  /** What it was done with, such as the name of a snapshot. */
  name: string
  /** How it stands, where that is not simply that it was done. */
  status: Job['status'] | Row['result'] | undefined
  /** Why it came to nothing, or what the alert says. */
  text: string
  severity: Alert['severity'] | undefined
  /** How long it took, in seconds, or how long the alert was open. */
  took: number | null
  /** After how many seconds a guest that was stopped ran again. */
  back: number | undefined
  /** Of jobs and alerts, their number. */
  job: number | undefined
  alert: number | undefined
}

const verbs: Record<string, Chapter> = {
  start: 'power',
  stop: 'power',
  shutdown: 'power',
  restart: 'power',
  pause: 'power',
  resume: 'power',
  reset: 'power',
  install: 'app',
  uninstall: 'app',
  update: 'app',
  adopt: 'app',
  discard: 'app',
  script_edit: 'app',
  script_revert: 'app',
}
function chapterOf(kind: string): Chapter {
  const verb = kind.slice(kind.indexOf('.') + 1)
  if (kind.startsWith('backup.')) return 'backup'
  if (verb.startsWith('snapshot_')) return 'snapshot'
  return (Object.hasOwn(verbs, verb) && verbs[verb]) || 'change'
}
/** Kinds of the same word on backups are told as other things. */
const verbOf = (kind: string): string => (kind.startsWith('backup.') ? kind.replace('.', '_') : kind.slice(kind.indexOf('.') + 1))

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
const detail = (row: Row | undefined, name: string): string =>
  text((row?.details as Record<string, unknown> | null | undefined)?.[name])
const nothing = {
  who: '',
  owner: '',
  schedule: null,
  name: '',
  status: undefined,
  text: '',
  severity: undefined,
  took: null,
  back: undefined,
  job: undefined,
  alert: undefined,
}

/** byWhom is who did it: what was done by a key has the key's name. */
function byWhom(row: Row | undefined, email: string): Pick<Entry, 'who' | 'owner'> {
  if (row?.actor_type === 'api_key') return { who: detail(row, 'key_name') || email, owner: email }
  return { who: email, owner: '' }
}

/** story puts them together, the newest first. What started a job is told with the job. */
export function story(jobs: Job[], rows: Row[], alerts: Alert[], guest?: Pick<Guest, 'backup_at'>): Entry[] {
  const began = new Map(rows.filter((row) => row.job_id !== null && row.result === 'ok').map((row) => [row.job_id, row]))
  const known = new Set(jobs.map(({ id }) => id))
  const entries: Entry[] = jobs.map((job) => ({
    ...nothing,
    key: `job ${job.id}`,
    at: Date.parse(job.created_at),
    chapter: chapterOf(job.kind),
    verb: verbOf(job.kind),
    ...byWhom(began.get(job.id), job.requested_by?.email ?? ''),
    schedule: job.schedule_id,
    name: text(job.params.name) || text(job.params.snapshot) || text(job.params.node),
    status: job.status === 'succeeded' ? undefined : job.status,
    text: job.error,
    took: job.duration_s,
    back: backAfter(job, jobs),
    job: job.id,
  }))
  for (const row of rows) {
    if (row.result === 'ok' && row.job_id !== null && known.has(row.job_id)) continue
    entries.push({
      ...nothing,
      key: `row ${row.id}`,
      at: Date.parse(row.at),
      chapter: row.result === 'ok' ? chapterOf(row.action) : 'refused',
      verb: verbOf(row.action),
      ...byWhom(row, row.actor_email ?? ''),
      name: detail(row, 'snapshot'),
      status: row.result === 'ok' ? undefined : row.result,
      text: row.error ?? '',
      job: row.job_id ?? undefined,
    })
  }
  for (const one of alerts) {
    const at = Date.parse(one.raised_at)
    entries.push({
      ...nothing,
      key: `alert ${one.id}`,
      at,
      chapter: 'alert',
      verb: '',
      text: one.message,
      severity: one.severity,
      took: one.resolved_at === null ? null : (Date.parse(one.resolved_at) - at) / 1000,
      alert: one.id,
    })
  }
  const last = guest?.backup_at ? Date.parse(guest.backup_at) : undefined
  // The hypervisor makes backups by itself, which no job of ours tells of.
  if (last !== undefined && !jobs.some((job) => job.kind === 'backup.run' && during(job, last)))
    entries.push({ ...nothing, key: 'backup', at: last, chapter: 'backup', verb: 'backup_found' })
  return entries.sort((a, b) => b.at - a.at || (a.key < b.key ? -1 : 1))
}

/** A backup's time is when its file begins, and clocks differ by a little. */
const slack = 60_000
const during = (job: Job, at: number): boolean =>
  at >= Date.parse(job.created_at) - slack && (job.finished_at === null || at <= Date.parse(job.finished_at) + slack)

const stops = new Set(['stop', 'shutdown'])
/** backAfter is after how many seconds a guest ran again that this job had stopped. */
function backAfter(job: Job, jobs: Job[]): number | undefined {
  if (!stops.has(verbOf(job.kind)) || job.status !== 'succeeded' || job.finished_at === null) return undefined
  const end = Date.parse(job.finished_at)
  const starts = jobs
    .filter((one) => verbOf(one.kind) === 'start' && one.status === 'succeeded' && one.finished_at !== null)
    .map((one) => Date.parse(one.finished_at!))
    .filter((at) => at >= end)
  return starts.length ? (Math.min(...starts) - end) / 1000 : undefined
}

/** Source is one of the lists as far as it is loaded: how old its oldest row is, and whether there are older ones. */
export interface Source {
  oldest: number
  more: boolean
}
/** complete is from which time on all sources are loaded. */
export const complete = (sources: Source[]): number =>
  Math.max(-Infinity, ...sources.filter(({ more }) => more).map(({ oldest }) => oldest))
