import { expect, test } from 'vitest'
import { filled, read, resolved, typeOf } from './schema'

test('what is empty is left out, at any depth', () => {
  expect(
    filled({ a: '', b: undefined, c: 0, d: { e: '', f: [] }, g: [{ vm: 3, app: undefined }, {}], h: false, i: true }),
  ).toEqual({
    c: 0,
    g: [{ vm: 3 }],
    i: true,
  })
})

test('numbers are numbers, and what is none stays as it was typed', () => {
  expect(read('integer', ' 12 ')).toBe(12)
  expect(read('integer', '1.5')).toBe('1.5')
  expect(read('integer', '9'.repeat(40))).toBe('9'.repeat(40))
  expect(read('number', '1.5')).toBe(1.5)
  expect(read('string', '12')).toBe('12')
  expect(read('string', '  ')).toBeUndefined()
})

test('references and types that may be null', () => {
  const defs = { Selection: { type: 'object', description: 'a', properties: {} } }
  expect(resolved({ $ref: '#/$defs/Selection', description: 'b' }, defs)).toEqual({ ...defs.Selection, description: 'b' })
  expect(resolved({ $ref: '#/$defs/None' }, defs)).toEqual({})
  expect(typeOf({ type: ['string', 'null'] })).toBe('string')
  expect(typeOf({ type: 'string', enum: ['a'] })).toBe('enum')
  expect(typeOf({})).toBe('string')
})
