import { expect, test } from 'vitest'
import { answer, change, figure } from './load'

test('figures of the load, and what is not known', () => {
  expect(figure(2.44)).toBe('2.4')
  expect(figure(12.4)).toBe('12')
  expect(figure(0)).toBe('0')
  expect(figure(null)).toBe('–')
  expect(answer(2, 0.06)).toBe('30 ms')
  expect(answer(0, 0)).toBe('–')
  expect(answer(null, null)).toBe('–')
  expect(change(3, 2)).toBe(0.5)
  expect(change(3, 0)).toBeUndefined()
  expect(change(null, 2)).toBeUndefined()
})
