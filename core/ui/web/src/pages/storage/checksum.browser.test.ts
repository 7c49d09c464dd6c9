import { expect, test } from 'vitest'
import { checksum } from './checksum'

const never = new AbortController().signal

test('the checksum is that of the browser itself, and tells how far it is', async () => {
  const bytes = new Uint8Array((9 << 20) + 5).map((_, i) => (i * 31) % 251)
  const told: number[] = []
  const found = await checksum(new Blob([bytes]), never, (read) => told.push(read))
  const wanted = [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((one) => one.toString(16).padStart(2, '0'))
  expect(found).toBe(wanted.join(''))
  expect(told).toEqual([4 << 20, 8 << 20, (9 << 20) + 5])
})

test('an empty file has one, too', async () => {
  expect(await checksum(new Blob([]), never, () => undefined)).toBe(
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
})

test('it ends when it is told to', async () => {
  const control = new AbortController()
  const found = checksum(new Blob([new Uint8Array(64 << 20)]), control.signal, () => control.abort())
  await expect(found).rejects.toThrow(/abort/)
  await expect(checksum(new Blob(['a']), control.signal, () => undefined)).rejects.toThrow(/abort/)
})
