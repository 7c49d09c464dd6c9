import { expect, test } from 'vitest'
import { nowOf, optionsCommand, sorted, valuesOf, type OptionKey, type VMOptions } from './options'

const key = (name: string, type: OptionKey['type'] = 'string'): OptionKey => ({
  name,
  type,
  values: null,
  min: null,
  max: null,
  max_length: null,
  autostart: false,
})
const is: VMOptions = {
  digest: 'd1',
  firewall: null,
  options: { onboot: true, weight: 7, boot: 'order=scsi0' },
  pending: { boot: 'order=net0', weight: null },
  pending_restart: true,
  keys: [key('weight', 'integer'), key('acpi', 'boolean'), key('boot'), key('onboot', 'boolean')],
}

test('those with words come first', () => {
  expect(sorted(is.keys).map(({ name }) => name)).toEqual(['onboot', 'boot', 'acpi', 'weight'])
})

test('what waits for a restart is what one changes, and what holds now is told beside it', () => {
  expect(valuesOf(is)).toEqual({ onboot: 'true', boot: 'order=net0', weight: '', acpi: '' })
  expect(['boot', 'weight', 'onboot'].map((name) => nowOf(is, name))).toEqual(['order=scsi0', '7', undefined])
})

test('only what has changed is sent, in its type', () => {
  const before = valuesOf(is)
  const now = { ...before, onboot: 'false', boot: ' ', weight: '12', acpi: 'true' }
  expect(optionsCommand(3, is, before, now)).toMatchObject({
    path: '/api/v1/vms/{vm_id}/options',
    options: { path: { vm_id: 3 }, body: { digest: 'd1', onboot: false, boot: null, weight: 12, acpi: true } },
  })
  const odd = optionsCommand(3, { ...is, digest: null }, before, { ...before, weight: 'much', boot: 'order=net0 ' })
  expect(odd.options.body).toEqual({ weight: 'much' })
})
