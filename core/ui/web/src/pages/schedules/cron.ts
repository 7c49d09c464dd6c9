// Cron expressions in words.
import cronstrue from 'cronstrue'
import 'cronstrue/locales/de'
import { spoken } from '../../words/spoken.svelte'
import { t } from '../../words/words'

/** inWords is what an expression means; empty for one that is not understood, which the service judges. */
export function inWords(cron: string): string {
  const fields = cron.trim().split(/\s+/)
  if (fields.length !== 5) return ''
  let words: string
  try {
    words = cronstrue.toString(cron, { use24HourTimeFormat: true, locale: spoken.language })
  } catch {
    return ''
  }
  // Of two day fields either is enough, as everywhere in cron; the words would be read as both.
  return fields[2] !== '*' && fields[4] !== '*' ? `${words} (${t('schedules.either')})` : words
}
