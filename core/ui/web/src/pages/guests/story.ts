// The history of a guest in one list: jobs, audit entries and alerts, each of them once.
import type { components } from '../../api/schema'
import type { Guest } from '../../live/guests.svelte'
import type { Job } from '../../live/jobs.svelte'

type Row = components['schemas']['AuditRow']
type Alert = components['schemas']['Alert']

export const chapters = ['power', 'snapshot', 'backup', 'app', 'change', 'alert', 'refused'] as const
export type Chapter = (typeof chapters)[number]

/** Entry is one event. */
export interface Entry {
  key: string
  /** In milliseconds since 1970. */
  at: number
  chapter: Chapter
  /** The action, as the last part of the job's kind or of the audit action: stop, snapshot_create. Empty for an alert. */
  verb: string
  /** The actor: an email address or the name of a key; empty for the service itself. */
  who: string
  /** The owner of the key, if a key was used; schedule is the schedule that did it. */
  owner: string
  schedule: number | null
  /** The object of the action, such as the name of a snapshot. */
  name: string
  /** The status, if it is not simply done. */
  status: Job['status'] | Row['result'] | undefined
  /** Why it failed, or the text of the alert. */
  text: string
  severity: Alert['severity'] | undefined
  /** How long it took, or how long the alert was open, in seconds. */
  took: number | null
  /** After how many seconds a stopped guest ran again. */
  back: number | undefined
  /** The number of the job or alert. */
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
/** Actions on backups that have the same verb as other actions. */
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

/** byWhom returns the actor. For a key, it is the name of the key. */
function byWhom(row: Row | undefined, email: string): Pick<Entry, 'who' | 'owner'> {
  if (row?.actor_type === 'api_key') return { who: detail(row, 'key_name') || email, owner: email }
  return { who: email, owner: '' }
}

/** story merges the lists, newest first. The audit entry that started a job is shown with the job. */
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
  // The hypervisor also makes its own backups, for which there is no job.
  if (last !== undefined && !jobs.some((job) => job.kind === 'backup.run' && during(job, last)))
    entries.push({ ...nothing, key: 'backup', at: last, chapter: 'backup', verb: 'backup_found' })
  return entries.sort((a, b) => b.at - a.at || (a.key < b.key ? -1 : 1))
}

/** A backup's time is the beginning of its file, and clocks differ slightly. */
const slack = 60_000
const during = (job: Job, at: number): boolean =>
  at >= Date.parse(job.created_at) - slack && (job.finished_at === null || at <= Date.parse(job.finished_at) + slack)

const stops = new Set(['stop', 'shutdown'])
/** backAfter returns after how many seconds a guest ran again that this job had stopped. */
function backAfter(job: Job, jobs: Job[]): number | undefined {
  if (!stops.has(verbOf(job.kind)) || job.status !== 'succeeded' || job.finished_at === null) return undefined
  const end = Date.parse(job.finished_at)
  const starts = jobs
    .filter((one) => verbOf(one.kind) === 'start' && one.status === 'succeeded' && one.finished_at !== null)
    .map((one) => Date.parse(one.finished_at!))
    .filter((at) => at >= end)
  return starts.length ? (Math.min(...starts) - end) / 1000 : undefined
}

/** Source is one of the lists as far as it is loaded: the time of its oldest row, and whether there are older ones. */
export interface Source {
  oldest: number
  more: boolean
}
/** complete returns the time from which on all sources are loaded. */
export const complete = (sources: Source[]): number =>
  Math.max(-Infinity, ...sources.filter(({ more }) => more).map(({ oldest }) => oldest))
