// The requests for backups.
import { why } from '../../app/may'
import { command } from '../../api/client'
import type { components } from '../../api/schema'
import type { Guest } from '../../live/guests.svelte'
import { t } from '../../words/words'

export type Backup = components['schemas']['Backup']
export type Coverage = components['schemas']['BackupCoverage']
type Order = Omit<components['schemas']['RunBackupsRequest'], 'targets'>
type Query = { plan?: boolean; plan_digest?: string }

/** targetOf returns a guest as a request for several guests names it. */
export const targetOf = (guest: { kind: string; id: number; app_id: number | null }): { vm: number } | { app: number } =>
  guest.app_id === null ? { vm: guest.id } : { app: guest.app_id }

export const runCommand = (
  targets: ({ vm: number } | { app: number })[],
  order: Order,
  query: Query = {},
  headers: Record<string, string> = {},
) => command('post', '/api/v1/backups/run', { query, headers, body: { targets, ...order } })

export const protectCommand = (backup: Backup) =>
  command('patch', '/api/v1/backups/{backup_id}', { path: { backup_id: backup.id }, body: { protected: !backup.protected } })

export const deleteCommand = (backup: Backup, confirm: string, query: Query = {}) =>
  command('delete', '/api/v1/backups/{backup_id}', {
    path: { backup_id: backup.id },
    query,
    body: confirm ? { confirm } : {},
  })

/** phraseOf returns the phrase that confirms deleting a backup, or restoring it over its guest. */
export const phraseOf = (backup: Backup): string => backup.name || backup.guest_ref

/** inPlace reports whether a backup can be restored over its guest: a container must be an app. */
export const inPlace = (backup: Backup): boolean => backup.vm_id !== null || backup.app_id !== null

const operations = { protect: 'update_backup', delete: 'delete_backup', restore: 'restore_backup' } as const

/** whyNot returns why an action on a backup is not possible now; undefined if it is. */
export function whyNot(backup: Backup, act: keyof typeof operations, guest: Guest | undefined): string | undefined {
  return why(operations[act], guest) ?? (act === 'delete' && backup.protected ? t('backups.isprotected') : undefined)
}

/** The age of a guest that was never backed up. */
const endless = Number.MAX_SAFE_INTEGER
const ranks: Record<Coverage['state'], number> = { stale: 0, unknown: 1, partial: 2, covered: 3, exempt: 4 }

/** leftOut lists the volumes that backups of a guest do not contain. */
export const leftOut = (one: Coverage): string =>
  one.left_out.map(({ key, path }) => (path === null ? key : `${key} (${path})`)).join(', ')

/** worstFirst orders guests: outdated ones first, among them those without any backup, then the oldest. */
export const worstFirst = (a: Coverage, b: Coverage): number =>
  ranks[a.state] - ranks[b.state] || (b.age_s ?? endless) - (a.age_s ?? endless) || a.guest_id - b.guest_id
