import { expect, test } from 'vitest'
import { strength } from './strength'

test('a password is judged by what differs in it', () => {
  expect(strength('short')).toBe(0)
  expect(strength('aaaaaaaaaaaaaaaaaaaa')).toBe(1)
  expect(strength('abcdefabcdef')).toBe(2)
  expect(strength('seven-yellow-donkeys')).toBeGreaterThanOrEqual(3)
  expect(strength('T7#kq-Zw92!mRd&xLp04')).toBe(4)
  expect(strength('🐴🐴🐴')).toBe(0)
})
