// Snapshots. VMs and apps have the same operations at their own paths.
import { why } from '../../app/may'
import { api, command, run } from '../../api/client'
import type { components } from '../../api/schema'
import type { Guest } from '../../live/guests.svelte'
import { t } from '../../words/words'

export type Snapshot = components['schemas']['GuestSnapshot']
type Plan = components['schemas']['Plan']
export type Act = 'create' | 'rollback' | 'delete'

/** listSnapshots reads them from the hypervisor. */
export const listSnapshots = (guest: Guest): Promise<Snapshot[]> =>
  guest.app_id === null
    ? api.get('/api/v1/vms/{vm_id}/snapshots', { path: { vm_id: guest.id } })
    : api.get('/api/v1/apps/{app_id}/snapshots', { path: { app_id: guest.app_id } })

const ofVM = { create: 'create_vm_snapshot', rollback: 'rollback_vm_snapshot', delete: 'delete_vm_snapshot' } as const
const ofApp = { create: 'create_app_snapshot', rollback: 'rollback_app_snapshot', delete: 'delete_app_snapshot' } as const

/** whyNot returns why an action is not possible now; undefined if it is. */
export function whyNot(guest: Guest, act: Act): string | undefined {
  const refused = why((guest.app_id === null ? ofVM : ofApp)[act], guest)
  return refused ?? (guest.job_id !== null ? t('power.busy') : undefined)
}

interface Wanted {
  name: string
  description?: string
  vmstate?: boolean
}

/** createCommand returns the request for a new snapshot. Only VMs can include their memory. */
export function createCommand(guest: Guest, { name, description, vmstate }: Wanted) {
  const body = { name, ...(description ? { description } : {}) }
  return guest.app_id === null
    ? command('post', '/api/v1/vms/{vm_id}/snapshots', {
        path: { vm_id: guest.id },
        body: { ...body, ...(vmstate ? { vmstate } : {}) },
      })
    : command('post', '/api/v1/apps/{app_id}/snapshots', { path: { app_id: guest.app_id }, body })
}

/** rollbackCommand returns the request to roll back to a snapshot, with the typed phrase. */
export function rollbackCommand(guest: Guest, name: string, confirm: string) {
  const body = { confirm }
  return guest.app_id === null
    ? command('post', '/api/v1/vms/{vm_id}/snapshots/{name}/rollback', { path: { vm_id: guest.id, name }, body })
    : command('post', '/api/v1/apps/{app_id}/snapshots/{name}/rollback', { path: { app_id: guest.app_id, name }, body })
}

export function deleteCommand(guest: Guest, name: string) {
  return guest.app_id === null
    ? command('delete', '/api/v1/vms/{vm_id}/snapshots/{name}', { path: { vm_id: guest.id, name } })
    : command('delete', '/api/v1/apps/{app_id}/snapshots/{name}', { path: { app_id: guest.app_id, name } })
}

/** planOf requests the plan. Nothing is done. */
export async function planOf(guest: Guest, act: 'rollback' | 'delete', name: string): Promise<Plan | undefined> {
  const asked = act === 'rollback' ? rollbackCommand(guest, name, '') : deleteCommand(guest, name)
  const { path } = asked.options
  const answer: unknown = await run({ ...asked, options: { ...(path ? { path } : {}), query: { plan: true } } } as typeof asked)
  return answer !== null && typeof answer === 'object' && 'effects' in answer ? (answer as Plan) : undefined
}

export interface Branch {
  snapshot: Snapshot
  depth: number
}

/** tree orders snapshots by parent, and those with the same parent by age. A snapshot whose parent is missing, or itself, is a root. */
export function tree(all: Snapshot[]): Branch[] {
  const names = new Set(all.map((one) => one.name))
  const byParent = new Map<string, Snapshot[]>()
  for (const one of all) {
    const parent = one.parent !== null && names.has(one.parent) ? one.parent : ''
    byParent.set(parent, [...(byParent.get(parent) ?? []), one])
  }
  const seen = new Set<string>()
  const out: Branch[] = []
  const walk = (one: Snapshot, depth: number): void => {
    if (seen.has(one.name)) return
    seen.add(one.name)
    out.push({ snapshot: one, depth })
    for (const next of children(one.name)) walk(next, depth + 1)
  }
  const children = (name: string): Snapshot[] =>
    (byParent.get(name) ?? []).sort((a, b) => (a.snaptime ?? '').localeCompare(b.snaptime ?? '') || a.name.localeCompare(b.name))
  for (const one of children('')) walk(one, 0)
  for (const one of all) walk(one, 0) // snapshots that refer to each other in a circle
  return out
}
