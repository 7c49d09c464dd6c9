// The next steps for an alert, depending on its rule.
import type { Alert } from '../../live/alerts.svelte'
import type { components } from '../../api/schema'

/** Hint is a path of the page with a title. */
export interface Hint {
  path: string
  text: 'thing' | 'host' | 'job' | 'backups' | 'capabilities' | 'tasks' | 'storage' | 'update' | 'console' | 'adopt'
}

/** nextOf returns pages that help with an alert, the best first. place is the page of its object. */
export function nextOf(alert: Alert, why: components['schemas']['AlertReason'], place: string | undefined): Hint[] {
  const { kind, target, host_id: host } = alert
  const all: Hint[] = []
  const add = (text: Hint['text'], path: string | undefined): void => {
    if (path !== undefined && !all.some((one) => one.path === path)) all.push({ path, text })
  }
  const guest = ['vm', 'app', 'container'].includes(target.kind) && place?.startsWith('/guests/') ? place : undefined
  if (why.job_id !== null) add('job', `/jobs/${why.job_id}`)
  if (kind === 'backup_stale') add('backups', guest ? `${guest}/backups` : '/backups?stale=1')
  if (kind === 'backup_unlisted') add('backups', '/backups')
  if (kind.startsWith('token_') && host !== null) add('capabilities', `/hosts/${host}?part=capabilities`)
  if (kind === 'task_failed' && host !== null) add('tasks', `/hosts/${host}?part=tasks`)
  if (kind === 'update_available') add('update', '/update')
  if (kind === 'app_missing') add('adopt', '/apps')
  if (target.kind === 'storage' && host !== null) add('storage', `/storage/${host}/${encodeURIComponent(target.name)}`)
  else if (target.kind !== 'host') add('thing', place)
  if (kind === 'guest_down' && guest) add('console', `${guest}/console`)
  if (host !== null) add('host', `/hosts/${host}`)
  return all
}
