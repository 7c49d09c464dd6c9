// What can be done to a guest besides its power, each in a dialog that has its place in the address, and why it cannot be done now.
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

/** whyNoChange says why a change cannot be asked for now; undefined means that it can. */
export function whyNoChange(guest: Guest, change: Change): string | undefined {
  if (guest.kind === 'container' && guest.app_id === null) return t('power.container')
  const refused = why(operationsOf[change][guest.app_id === null ? 0 : 1], guest)
  return refused ?? (guest.job_id === null ? undefined : t('power.busy'))
}

/** nameOf is what a change is called: an app is uninstalled, a VM destroyed. */
export const nameOf = (guest: Guest, change: Change): string =>
  t(change === 'delete' && guest.app_id !== null ? 'change.uninstall' : `change.${change}`)

/** begin opens the dialog of a change, over the page of the guest. */
export function begin(guest: Guest, change: Change): void {
  const here = at.params.id === String(guest.id) && at.path.startsWith('/guests/')
  const query = new URLSearchParams(here ? at.query : undefined)
  query.set('do', change)
  navigate(`${here ? at.path : `/guests/${guest.id}`}?${query}`)
}

/** begun is the change whose dialog is open. */
export const begun = (): Change | undefined => changes.find((one) => one === at.query.get('do'))

/** end closes it. */
export function end(): void {
  const query = new URLSearchParams(at.query)
  query.delete('do')
  navigate(at.path + (query.size ? `?${query}` : ''), { replace: true })
}
