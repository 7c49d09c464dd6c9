import { expect, test } from 'vitest'
import { cast, plain } from './cast'

test('events come in order, whatever is among them', () => {
  const read = cast()
  const lines = [
    '{"version":2,"width":90,"height":33}',
    '[0.5,"o","he"]',
    'no json',
    '[0.2,"o","llo"]',
    '[1,"i","typed"]',
    '[1.5,"r","120x40"]',
    '[1.6,"r","99999x1"]',
    '[1.7,"r","0x0"]',
    '[null,"o","x"]',
    '[2,"o",5]',
    '{"width":1}',
    '[3,"o","\\u001b[31mred\\u001b[0m"]',
  ].join('\n')
  for (let at = 0; at < lines.length; at += 7) read.add(lines.slice(at, at + 7))
  expect(read.events).toHaveLength(3)
  read.end()
  expect(read.size).toEqual({ columns: 90, rows: 33 })
  expect(read.events).toEqual([
    { at: 0.5, output: 'he' },
    { at: 0.5, output: 'llo' },
    { at: 1.5, size: { columns: 120, rows: 40 } },
    { at: 3, output: '\u001b[31mred\u001b[0m' },
  ])
  expect(read.length).toBe(3)
})

test('sizes that no terminal has are left out', () => {
  for (const header of ['{"width":1e9,"height":5}', '{"width":"x"}', '[]', 'null', '{}']) {
    const read = cast()
    read.add(`${header}\n`)
    expect(read.size).toBeUndefined()
  }
})

test('what controls the terminal is not looked in', () => {
  expect(plain('\u001b[1;31mpass\u001b[0mword\u001b]0;title\u0007 \u001b]8;;x\u001b\\link')).toBe('password link')
})
