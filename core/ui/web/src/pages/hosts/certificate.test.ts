import { expect, test } from 'vitest'
import { printing } from './certificate'

test('the command asks the port of the first address that has one', () => {
  for (const [addresses, port] of [
    [['https://pve1:8006/'], '8006'],
    [[' [::1]:8443 '], '8443'],
    [['fd00::1', 'pve1:8006'], '8006'],
    [['pve2', 'pve1:8006'], '8006'],
    [['pve2', ''], '443'],
  ] as const)
    expect(printing(...addresses)).toMatch(new RegExp(`^openssl s_client -connect 127\\.0\\.0\\.1:${port} `))
})
