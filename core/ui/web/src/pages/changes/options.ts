// The options of a VM in a form: texts by option name, and none for an option that is not set.
import { command, type Command } from '../../api/client'
import type { components } from '../../api/schema'
import { read } from '../../kit/schema'

export type VMOptions = components['schemas']['OptionVMOptions']
export type OptionKey = VMOptions['keys'][number]
export type Values = Record<string, string>

/** The options that have their own labels, in the order in which they are shown. The hypervisor decides which options exist. */
export const known = [
  'onboot',
  'startup',
  'boot',
  'agent',
  'protection',
  'ostype',
  'cpulimit',
  'cpuunits',
  'numa',
  'bios',
  'machine',
  'scsihw',
  'vga',
  'keyboard',
  'tablet',
  'localtime',
  'hotplug',
  'nameserver',
  'searchdomain',
] as const

/** sorted puts labelled options first, then the others by name. */
export function sorted(keys: readonly OptionKey[]): OptionKey[] {
  const rank = ({ name }: OptionKey): number => {
    const at = known.findIndex((one) => one === name)
    return at < 0 ? known.length : at
  }
  return keys.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en'))
}

const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

/** valuesOf returns the values of all options after a restart. */
export const valuesOf = ({ keys, options, pending }: VMOptions): Values =>
  Object.fromEntries(keys.map(({ name }) => [name, text(name in pending ? pending[name] : options[name])]))

/** nowOf returns the current value of an option that waits for a restart; undefined if it does not wait. */
export const nowOf = ({ options, pending }: VMOptions, name: string): string | undefined =>
  name in pending ? text(options[name]) : undefined

/** moved returns the changed options. */
export const moved = (before: Values, now: Values): string[] =>
  Object.keys(before).filter((name) => now[name]?.trim() !== before[name])

/** optionsCommand returns the request for the changes; null resets an option to the hypervisor's default. */
export function optionsCommand(vm_id: number, is: VMOptions, before: Values, now: Values): Command<VMOptions> {
  const body: Record<string, unknown> = is.digest ? { digest: is.digest } : {}
  const types = new Map(is.keys.map(({ name, type }) => [name, type]))
  for (const name of moved(before, now)) {
    const value = now[name]!.trim()
    // Invalid numbers are sent as typed: the service reports them at their field.
    if (value === '') body[name] = null
    else body[name] = types.get(name) === 'boolean' ? value === 'true' : read(types.get(name) ?? 'string', value)
  }
  return command('put', '/api/v1/vms/{vm_id}/options', { path: { vm_id }, body })
}
