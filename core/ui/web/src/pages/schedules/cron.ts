// Cron expressions in words.
import cronstrue from 'cronstrue'
import 'cronstrue/locales/de'
import { spoken } from '../../words/spoken.svelte'
import { t } from '../../words/words'

/** inWords returns the meaning of an expression; empty if it is not understood. The service decides whether it is valid. */
export function inWords(cron: string): string {
  const fields = cron.trim().split(/\s+/)
  if (fields.length !== 5) return ''
  let words: string
  try {
    words = cronstrue.toString(cron, { use24HourTimeFormat: true, locale: spoken.language })
  } catch {
    return ''
  }
  // If both day fields are set, one match is enough, as always in cron; the words would read as if both were required.
  return fields[2] !== '*' && fields[4] !== '*' ? `${words} (${t('schedules.either')})` : words
}
