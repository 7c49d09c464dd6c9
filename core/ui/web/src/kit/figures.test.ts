import { expect, test } from 'vitest'
import { spoken } from '../words/spoken.svelte'
import { absolute, ago, bytes, dash, fixed, inOrder, number, percent, span } from './figures'

test('sizes are binary, with one decimal', () => {
  expect([0, 1023, 1024, 1536, 34359738368, 2 ** 60].map((n) => bytes(n))).toEqual([
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.5 KiB',
    '32.0 GiB',
    '1024.0 PiB',
  ])
  expect([bytes(null), bytes(undefined), percent(null), span(undefined)]).toEqual([dash, dash, dash, dash])
})

test('parts are percents', () => {
  expect([percent(0), percent(0.256), percent(1)]).toEqual(['0.0 %', '25.6 %', '100.0 %'])
})

test('lengths of time have two units', () => {
  expect([0, 0.25, 59, 60, 61, 3600, 3661, 90061, 86400].map((s) => span(s))).toEqual([
    '0 ms',
    '250 ms',
    '59 s',
    '1 min',
    '1 min 1 s',
    '1 h',
    '1 h 1 min',
    '1 d 1 h',
    '1 d',
  ])
})

test('times are relative up to a day', () => {
  const now = Date.parse('2026-03-29T01:30:00Z')
  const at = (text: string): string => ago(new Date(text), now, 'Europe/Berlin')
  expect(at('2026-03-29T01:29:45Z')).toBe('15 sec. ago')
  expect(at('2026-03-29T01:30:05Z')).toBe('now')
  expect(at('2026-03-29T01:27:00Z')).toBe('3 min. ago')
  expect(at('2026-03-28T22:30:00Z')).toBe('3 hr. ago')
  expect(at('2026-03-29T01:35:00Z')).toBe('in 5 min.')
  // Berlin changed to summer time half an hour earlier.
  expect(at('2026-03-27T00:30:00Z')).toBe('2026-03-27 01:30:00')
  expect(absolute(new Date(now), 'Europe/Berlin')).toBe('2026-03-29 03:30:00')
  expect(absolute(new Date(now), 'UTC')).toBe('2026-03-29 01:30:00')
})

test('each language writes them in its own way', () => {
  const now = Date.parse('2026-03-29T01:30:00Z')
  const at = (text: string): string => ago(new Date(text), now, 'Europe/Berlin')
  expect([number(12345.678, 1), fixed(12345.678, 1)]).toEqual(['12,345.7', '12345.7'])
  spoken.language = 'de'
  expect([bytes(1023), bytes(1536), percent(0.256)]).toEqual(['1023 B', '1,5 KiB', '25,6 %'])
  expect([number(12345.678, 1), fixed(12345.678, 1), fixed(2, 2)]).toEqual(['12.345,7', '12345,7', '2,00'])
  expect([at('2026-03-29T01:30:00Z'), at('2026-03-29T01:27:00Z')]).toEqual(['jetzt', 'vor 3 Min.'])
  expect(absolute(new Date(now), 'Europe/Berlin')).toBe('29.03.2026, 03:30:00')
  // Values that the page itself reads keep the ISO order.
  expect(inOrder(new Date(now), 'Europe/Berlin')).toBe('2026-03-29 03:30:00')
  spoken.language = 'en'
})
