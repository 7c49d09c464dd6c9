// A network device of a guest in a form: texts by field name. A switch that is on has a text, one that is off has none.
import { command, type Command } from '../../api/client'
import type { components } from '../../api/schema'
import { read } from '../../kit/schema'
import type { Guest } from '../../live/guests.svelte'

export type Interface = components['schemas']['GuestInterface']
export type Fields = Record<string, string>
type Body = components['schemas']['ChangeVmNicRequest']

const texts = ['bridge', 'tag', 'rate', 'mtu'] as const
/** The addresses of a VM are configured inside the guest. */
const addresses = ['ip', 'gw', 'ip6', 'gw6'] as const
export const flags = ['firewall', 'link_down'] as const
type Flag = (typeof flags)[number]
type Name = (typeof texts | typeof addresses)[number] | Flag

export const isFlag = (name: string): name is Flag => (flags as readonly string[]).includes(name)

/** fieldsOf returns the fields of an interface with the current values. */
export function fieldsOf(guest: Guest, nic: Interface): Fields {
  const names: Name[] = [...texts, ...(guest.app_id === null ? [] : addresses), ...flags]
  return Object.fromEntries(
    names.map((name) => {
      const value = nic[name]
      return [name, value === null || value === false ? '' : String(value)]
    }),
  )
}

/** newNic returns an empty interface with the first free key. */
export function newNic(all: Interface[]): Interface {
  let n = 0
  while (all.some((one) => one.key === `net${n}`)) n++
  const empty = { key: `net${n}`, firewall: false, link_down: false, pending: false, digest: all[0]?.digest ?? null }
  const none = Object.fromEntries([...texts, ...addresses].map((name) => [name, null]))
  return { ...none, ...empty } as Interface
}

/** firstFields returns what the form of a new interface starts with: the bridge and firewall of the first one, and DHCP for an app. */
export function firstFields(guest: Guest, nic: Interface, first: Interface | undefined): Fields {
  const fields = { ...fieldsOf(guest, nic), bridge: first?.bridge ?? '', firewall: first?.firewall ? 'true' : '' }
  return guest.app_id === null ? fields : { ...fields, ip: 'dhcp' }
}

/** moved returns the changed fields. */
export const moved = (before: Fields, now: Fields): string[] =>
  Object.keys(before).filter((name) => now[name]?.trim() !== before[name])

/** nicCommand returns the request for the changes of an interface; null removes a value. */
export function nicCommand(
  guest: Guest,
  nic: Interface,
  before: Fields,
  now: Fields,
): Command<components['schemas']['GuestInterfaceChangeResult']> {
  const body: Record<string, unknown> = nic.digest ? { digest: nic.digest } : {}
  for (const name of moved(before, now)) {
    const text = now[name]!.trim()
    if (isFlag(name)) body[name] = text !== ''
    // Invalid numbers are sent as typed: the service reports them at their field.
    else body[name] = read(name === 'rate' ? 'number' : name === 'tag' || name === 'mtu' ? 'integer' : 'string', text) ?? null
  }
  const iface = nic.key
  return guest.app_id === null
    ? command('put', '/api/v1/vms/{vm_id}/network/{iface}', { path: { vm_id: guest.id, iface }, body: body as Body })
    : command('put', '/api/v1/apps/{app_id}/network/{iface}', { path: { app_id: guest.app_id, iface }, body: body as Body })
}
