// Objects with a console: VMs and apps by their IDs, and nodes by their host.
import { why } from '../../app/may'
import { api } from '../../api/client'
import type { Kind } from '../../console/messages'
import type { components } from '../../api/schema'
import type { Guest } from '../../live/guests.svelte'
import { t } from '../../words/words'

export type Thing = { kind: 'vm' | 'app'; id: number } | { kind: 'host'; id: number; node: string }

type Ticket = components['schemas']['ConsoleTicket']
interface Size {
  columns: number
  rows: number
}

/** ticketFor opens the console on the hypervisor. Without a kind, a VM gets the one that suits it. */
export async function ticketFor(thing: Thing, kind: Kind | '', size: Size): Promise<Ticket> {
  const query = { ...size, ...(kind ? { kind } : {}) }
  switch (thing.kind) {
    case 'vm':
      return api.post('/api/v1/vms/{vm_id}/console/tickets', { path: { vm_id: thing.id }, query })
    case 'app':
      return api.post('/api/v1/apps/{app_id}/console/tickets', { path: { app_id: thing.id }, query })
    case 'host': {
      const shell = { ...size, ...(thing.node ? { node: thing.node } : {}) }
      return api.post('/api/v1/hosts/{host_id}/shell/tickets', { path: { host_id: thing.id }, query: shell })
    }
  }
}

/** consoleOf returns what to request the console of a guest with; undefined for a container that is not an app. */
export const consoleOf = (guest: Guest): Thing | undefined =>
  guest.app_id !== null ? { kind: 'app', id: guest.app_id } : guest.kind === 'vm' ? { kind: 'vm', id: guest.id } : undefined

/** noConsole returns why a guest's console cannot be opened now; undefined if it can. */
export function noConsole(guest: Guest): string | undefined {
  const thing = consoleOf(guest)
  if (guest.template) return t('console.template')
  if (!thing) return t('power.container')
  const refused = why(thing.kind === 'vm' ? 'create_vm_console_ticket' : 'create_app_console_ticket', guest)
  if (refused) return refused
  return guest.status === 'stopped' ? t('console.stopped') : undefined
}
