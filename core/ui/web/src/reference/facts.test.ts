import { expect, test } from 'vitest'
import { facts } from './facts'

test('an operation that is guarded in every way', () => {
  expect(
    facts({
      'x-role': 'owner',
      'x-on': 'vm',
      'x-scope': 'vms:write',
      'x-capability': 'lifecycle',
      'x-confirm': { when: 'always', field: 'name' },
      'x-plan': true,
      'x-audit': 'vm.delete',
    }),
  ).toBe(
    [
      '- Requires the role **owner** on the vm, or an API key with the scope `vms:write`',
      '- The host needs a token for `lifecycle`',
      '- Send the name as `confirm`',
      '- `plan=true` shows the effects and changes nothing',
      '- The audit log records it as `vm.delete`',
      '',
    ].join('\n'),
  )
})

test('confirmations with a phrase, on the machine of the service, and none', () => {
  const of = (confirm: { when: 'always' | 'self' | 'never'; field?: string; phrase?: string }) =>
    facts({ 'x-role': 'owner', 'x-on': 'instance', 'x-scope': 'audit:write', 'x-confirm': confirm })
  expect(of({ when: 'always', phrase: 'clear audit log' })).toContain('in the default team, or an API key with the scope')
  expect(of({ when: 'always', phrase: 'clear audit log' })).toContain('Send `clear audit log` as `confirm`')
  expect(of({ when: 'self', field: 'name' })).toContain('if the service itself runs on the target')
  expect(of({ when: 'never' })).not.toContain('confirm')
})

test('an operation without a role is public', () => {
  expect(facts({})).toBe('- Public: needs no login\n')
})
