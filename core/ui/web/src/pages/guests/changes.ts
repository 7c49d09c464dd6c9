// The changes of a guest besides power actions. Each has a dialog with its own address, and a reason if it is not possible now.
import { why } from '../../app/may'
import { at, navigate } from '../../app/router.svelte'
import type { OperationId } from '../../api/operations'
import type { Guest } from '../../live/guests.svelte'
import { t } from '../../words/words'

export const changes = ['backup', 'clone', 'resize', 'migrate', 'delete'] as const
export type Change = (typeof changes)[number]

/** The operations of VMs and of apps. */
const operationsOf: Record<Change, [OperationId, OperationId]> = {
  backup: ['run_backups', 'run_backups'],
  clone: ['clone_vm', 'clone_app'],
  resize: ['reconfigure_vm', 'reconfigure_app'],
  migrate: ['migrate_vm', 'migrate_app'],
  delete: ['delete_vm', 'uninstall_app'],
}

/** whyNoChange returns why a change is not possible now; undefined if it is. */
export function whyNoChange(guest: Guest, change: Change): string | undefined {
  if (guest.kind === 'container' && guest.app_id === null) return t('power.container')
  const refused = why(operationsOf[change][guest.app_id === null ? 0 : 1], guest)
  return refused ?? (guest.job_id === null ? undefined : t('power.busy'))
}

/** nameOf returns the name of a change: an app is uninstalled, a VM is deleted. */
export const nameOf = (guest: Guest, change: Change): string =>
  t(change === 'delete' && guest.app_id !== null ? 'change.uninstall' : `change.${change}`)

/** begin opens the dialog of a change on top of the guest's page. */
export function begin(guest: Guest, change: Change): void {
  const here = at.params.id === String(guest.id) && at.path.startsWith('/guests/')
  const query = new URLSearchParams(here ? at.query : undefined)
  query.set('do', change)
  navigate(`${here ? at.path : `/guests/${guest.id}`}?${query}`)
}

/** begun returns the change whose dialog is open. */
export const begun = (): Change | undefined => changes.find((one) => one === at.query.get('do'))

/** end closes it. */
export function end(): void {
  const query = new URLSearchParams(at.query)
  query.delete('do')
  navigate(at.path + (query.size ? `?${query}` : ''), { replace: true })
}
