import { createHmac } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** code is what an authenticator app shows for a secret (RFC 6238), some steps of half a minute from now. */
export function code(secret: string, steps = 0): string {
  let bits = ''
  for (const letter of secret.replace(/=+$/, '')) bits += alphabet.indexOf(letter).toString(2).padStart(5, '0')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
  const sum = createHmac('sha1', key).update(counter).digest()
  const offset = sum[sum.length - 1]! & 15
  return String((sum.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
