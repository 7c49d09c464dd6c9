// The values of settings as people read and write them.
import type { components } from '../../api/schema'
import { t } from '../../words/words'

export type Setting = components['schemas']['Setting']

/** shown is a value in words. */
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

/** texts are those of a field that has one a line. */
export const texts = (field: string): string[] =>
  field
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter(Boolean)

/** number is a whole number, or the text itself, which the service refuses at its field. */
export const number = (field: string): number | string => (/^-?\d{1,15}$/.test(field.trim()) ? Number(field) : field)

/** fault is what the bounds say of a value, before anybody is asked; undefined when nothing is wrong. */
export function outside({ kind, minimum, maximum }: Setting, value: unknown): string | undefined {
  if (kind !== 'number') return undefined
  const good = typeof value === 'number' && value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity)
  return good ? undefined : t('settings.bounds', { minimum: minimum ?? '', maximum: maximum ?? '' })
}
