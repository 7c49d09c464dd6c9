// The keys of a storage's definition: what a form has of them, and what is sent.
import type { components } from '../../api/schema'

export type StorageKey = components['schemas']['StorageKey']

/** Typed is what the fields of a form have: texts, and words or yes and no as texts too. */
export type Typed = Record<string, string>

const isOn = (value: string): boolean => value === '1' || value === 'true'

/** typedOf is a definition as the fields have it. */
export function typedOf(keys: StorageKey[], config: Record<string, string>): Typed {
  return Object.fromEntries(
    keys.map(({ name, type }) => [name, type === 'boolean' ? (isOn(config[name] ?? '') ? 'true' : '') : (config[name] ?? '')]),
  )
}

/** wordsOf are the words of a list. */
export const wordsOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)

/** valueOf is what is sent of a field. What is no number is sent as it is: the service says what is wrong, at its place. */
function valueOf({ type }: StorageKey, text: string): unknown {
  if (type === 'boolean') return text === 'true'
  if (type === 'list') return wordsOf(text)
  return type === 'integer' && /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text
}

/** made is the config of a new definition: what is filled in. */
export const made = (keys: StorageKey[], typed: Typed): Record<string, unknown> =>
  Object.fromEntries(
    keys.filter(({ name }) => (typed[name] ?? '') !== '').map((key) => [key.name, valueOf(key, typed[key.name]!)]),
  )

/** changed is the config of an edit: what differs from before; what was emptied is cleared. A secret that is left empty stays. */
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

/** veiled is a config without secrets, to be looked at. */
export const veiled = (keys: StorageKey[], config: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name, keys.find((key) => key.name === name)?.secret && value ? '…' : value]),
  )
