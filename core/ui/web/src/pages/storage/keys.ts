// The keys of a storage's definition: how a form shows them, and how they are sent.
import type { components } from '../../api/schema'

export type StorageKey = components['schemas']['StorageKey']

/** Typed contains the values of the fields: texts, with lists and switches as texts too. */
export type Typed = Record<string, string>

const isOn = (value: string): boolean => value === '1' || value === 'true'

/** typedOf returns a definition as the fields need it. */
export function typedOf(keys: StorageKey[], config: Record<string, string>): Typed {
  return Object.fromEntries(
    keys.map(({ name, type }) => [name, type === 'boolean' ? (isOn(config[name] ?? '') ? 'true' : '') : (config[name] ?? '')]),
  )
}

/** wordsOf splits a list. */
export const wordsOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)

/** valueOf returns the value of a field for the request. Invalid numbers are sent as typed: the service reports them at their field. */
function valueOf({ type }: StorageKey, text: string): unknown {
  if (type === 'boolean') return text === 'true'
  if (type === 'list') return wordsOf(text)
  return type === 'integer' && /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text
}

/** made returns the config of a new definition: all filled-in fields. */
export const made = (keys: StorageKey[], typed: Typed): Record<string, unknown> =>
  Object.fromEntries(
    keys.filter(({ name }) => (typed[name] ?? '') !== '').map((key) => [key.name, valueOf(key, typed[key.name]!)]),
  )

/** changed returns the config of an edit: the differences; emptied fields are cleared. A secret that is left empty stays. */
export function changed(keys: StorageKey[], before: Typed, typed: Typed): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const key of keys) {
    const [was, is] = [before[key.name] ?? '', typed[key.name] ?? '']
    if (key.fixed || was === is || (key.type === 'list' && same(wordsOf(was), wordsOf(is)))) continue
    found[key.name] = is === '' && key.type !== 'boolean' ? null : valueOf(key, is)
  }
  return found
}

const same = (a: string[], b: string[]): boolean => a.toSorted().join() === b.toSorted().join()

/** veiled returns a config without secrets, to show it. */
export const veiled = (keys: StorageKey[], config: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name, keys.find((key) => key.name === name)?.secret && value ? '…' : value]),
  )
