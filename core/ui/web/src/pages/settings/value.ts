// Reads and formats the values of settings.
import type { components } from '../../api/schema'
import { t } from '../../words/words'

export type Setting = components['schemas']['Setting']

/** shown formats a value. */
export function shown(setting: Pick<Setting, 'kind'>, value: unknown, hosts: { id: number; name: string }[]): string {
  switch (setting.kind) {
    case 'flag':
      return t(value === true ? 'settings.on' : 'settings.off')
    case 'host':
      return value === null ? t('settings.nohost') : (hosts.find(({ id }) => id === value)?.name ?? `#${String(value)}`)
    case 'texts':
      return Array.isArray(value) && value.length ? value.join(', ') : t('settings.empty')
    default:
      return value === '' ? t('settings.empty') : String(value)
  }
}

/** texts splits a field with one value per line. */
export const texts = (field: string): string[] =>
  field
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter(Boolean)

/** number returns a whole number, or the text itself, which the service refuses at its field. */
export const number = (field: string): number | string => (/^-?\d{1,15}$/.test(field.trim()) ? Number(field) : field)

/** fault checks a value against the bounds before it is sent; undefined if it is valid. */
export function outside({ kind, minimum, maximum }: Setting, value: unknown): string | undefined {
  if (kind !== 'number') return undefined
  const good = typeof value === 'number' && value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity)
  return good ? undefined : t('settings.bounds', { minimum: minimum ?? '', maximum: maximum ?? '' })
}
