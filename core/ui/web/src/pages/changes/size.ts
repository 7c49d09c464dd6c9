// The resources of a guest in a form: texts by field name. A disk is disks.scsi0.
import { api, command, type Command } from '../../api/client'
import type { components } from '../../api/schema'
import { read } from '../../kit/schema'
import type { Guest } from '../../live/guests.svelte'

export type Config = components['schemas']['GuestConfig']
export type Sizes = Record<string, string>
type NewDisk = components['schemas']['ConfigDiskChange']
type Answer = Config | components['schemas']['AppReconfigureResult']

/** configOf reads the configuration from the hypervisor. */
export const configOf = (guest: Guest): Promise<Config> =>
  guest.app_id === null
    ? api.get('/api/v1/vms/{vm_id}/config', { path: { vm_id: guest.id } })
    : api.get('/api/v1/apps/{app_id}/config', { path: { app_id: guest.app_id } })

const ofVM = ['cores', 'sockets', 'memory_mb', 'balloon_mb'] as const
const ofApp = ['cores', 'memory_mb', 'swap_mb'] as const

/** sizesOf returns the fields of a guest with the current values, and the disks that can grow. */
export function sizesOf(guest: Guest, config: Config): Sizes {
  const sizes: Sizes = {}
  for (const name of guest.app_id === null ? ofVM : ofApp) sizes[name] = config[name]?.toString() ?? ''
  if (guest.template) return sizes
  for (const { key, size_gb: size, removable, local, unused, pending } of config.disks)
    if (!removable && !local && !unused && !pending && size !== null) sizes[`disks.${key}`] = size.toString()
  return sizes
}

/** newKey returns the first key that a new disk can have: on the bus of the VM's first disk, or a mount point of a container. */
export function newKey(guest: Guest, config: Config): string {
  const taken = new Set(config.disks.map((one) => one.key))
  const first = config.disks.find((one) => !one.removable && /^(scsi|virtio|sata)\d+$/.test(one.key))
  const bus = guest.app_id === null ? (first?.key.replace(/\d+$/, '') ?? 'scsi') : 'mp'
  let n = 0
  while (taken.has(`${bus}${n}`)) n++
  return `${bus}${n}`
}

/** newDiskCommand returns the request for a new disk with this key. */
export function newDiskCommand(guest: Guest, config: Config, key: string, disk: NewDisk): Command<Answer> {
  const body = { ...(config.digest ? { digest: config.digest } : {}), disks: { [key]: disk } }
  return guest.app_id === null
    ? command('patch', '/api/v1/vms/{vm_id}', { path: { vm_id: guest.id }, body })
    : command('patch', '/api/v1/apps/{app_id}', { path: { app_id: guest.app_id }, body })
}

/** changed returns the changed fields. An empty field is unchanged. */
export const changed = (before: Sizes, now: Sizes): string[] =>
  Object.keys(before).filter((name) => now[name]?.trim() !== '' && now[name] !== before[name])

/** resizeCommand returns the request for the changes to the configuration with this digest. */
export function resizeCommand(guest: Guest, digest: string | null, before: Sizes, now: Sizes): Command<Answer> {
  const body: components['schemas']['ReconfigureVmRequest'] & components['schemas']['ReconfigureAppRequest'] = digest
    ? { digest }
    : {}
  const disks: NonNullable<typeof body.disks> = {}
  for (const name of changed(before, now)) {
    const value = read('integer', now[name]!) as number // an invalid number is refused at its field
    if (name.startsWith('disks.')) disks[name.slice('disks.'.length)] = { size_gb: value }
    else body[name as (typeof ofVM)[number] | (typeof ofApp)[number]] = value
  }
  if (Object.keys(disks).length) body.disks = disks
  return guest.app_id === null
    ? command('patch', '/api/v1/vms/{vm_id}', { path: { vm_id: guest.id }, body })
    : command('patch', '/api/v1/apps/{app_id}', { path: { app_id: guest.app_id }, body })
}
