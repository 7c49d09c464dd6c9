import { expect, test } from 'vitest'
import { spoken } from '../../words/spoken.svelte'
import { inWords } from './cron'

test('expressions in words', () => {
  expect(inWords('30 2 * * MON-FRI')).toBe('At 02:30, Monday through Friday')
  expect(inWords('0 0 1 * MON')).toBe(
    'At 00:00, on day 1 of the month, and on Monday (runs if the day of month or the weekday matches)',
  )
  for (const bad of ['', '* * * *', '@daily', 'x y z a b', '61 0 * * *', '0 0 * * * *', '<img src=x>'])
    expect(inWords(bad), bad).toBe('')
})

test('in German', () => {
  spoken.language = 'de'
  expect(inWords('30 2 * * MON-FRI')).toBe('Um 02:30, Montag bis Freitag')
  spoken.language = 'en'
})
