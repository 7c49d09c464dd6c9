// A network card of a guest as a form has it: texts by the names of the fields; what is on has a text, and what is off none.
import { command, type Command } from '../../api/client'
import type { components } from '../../api/schema'
import { read } from '../../kit/schema'
import type { Guest } from '../../live/guests.svelte'

export type Interface = components['schemas']['GuestInterface']
export type Fields = Record<string, string>
type Body = components['schemas']['ChangeVmNicRequest']

const texts = ['bridge', 'tag', 'rate', 'mtu'] as const
/** The addresses of a VM are set inside it. */
const addresses = ['ip', 'gw', 'ip6', 'gw6'] as const
export const flags = ['firewall', 'link_down'] as const
type Flag = (typeof flags)[number]
type Name = (typeof texts | typeof addresses)[number] | Flag

export const isFlag = (name: string): name is Flag => (flags as readonly string[]).includes(name)

/** fieldsOf are the fields of an interface, with what is in force. */
export function fieldsOf(guest: Guest, nic: Interface): Fields {
  const names: Name[] = [...texts, ...(guest.app_id === null ? [] : addresses), ...flags]
  return Object.fromEntries(
    names.map((name) => {
      const value = nic[name]
      return [name, value === null || value === false ? '' : String(value)]
    }),
  )
}

/** moved are the fields that are not as they were. */
export const moved = (before: Fields, now: Fields): string[] =>
  Object.keys(before).filter((name) => now[name]?.trim() !== before[name])

/** nicCommand is the request for what has changed of an interface; null takes a value away. */
export function nicCommand(
  guest: Guest,
  nic: Interface,
  before: Fields,
  now: Fields,
): Command<components['schemas']['GuestChangedInterface']> {
  const body: Record<string, unknown> = nic.digest ? { digest: nic.digest } : {}
  for (const name of moved(before, now)) {
    const text = now[name]!.trim()
    if (isFlag(name)) body[name] = text !== ''
    // What is no number is sent as it was typed: the service says so at its field.
    else body[name] = read(name === 'rate' ? 'number' : name === 'tag' || name === 'mtu' ? 'integer' : 'string', text) ?? null
  }
  const iface = nic.key
  return guest.app_id === null
    ? command('put', '/api/v1/vms/{vm_id}/network/{iface}', { path: { vm_id: guest.id, iface }, body: body as Body })
    : command('put', '/api/v1/apps/{app_id}/network/{iface}', { path: { app_id: guest.app_id, iface }, body: body as Body })
}
