import { expect, test } from 'vitest'
import type { Guest } from '../../live/guests.svelte'
import { fieldsOf, firstFields, moved, newNic, nicCommand, type Interface } from './nic'

const vm = { id: 3, app_id: null } as Guest
const app = { id: 9, app_id: 4 } as Guest
const nic = {
  key: 'net0',
  bridge: 'vmbr0',
  tag: null,
  rate: 12.5,
  mtu: null,
  firewall: true,
  link_down: false,
  ip: '192.0.2.5/24',
  gw: '192.0.2.1',
  ip6: null,
  gw6: null,
  digest: 'd1',
} as Interface

test('a VM has no addresses here, an app does', () => {
  expect(fieldsOf(vm, nic)).toEqual({ bridge: 'vmbr0', tag: '', rate: '12.5', mtu: '', firewall: 'true', link_down: '' })
  expect(fieldsOf(app, nic)).toMatchObject({ ip: '192.0.2.5/24', gw: '192.0.2.1', ip6: '', gw6: '' })
})

test('only what has changed is sent, with the digest of what was read', () => {
  const before = fieldsOf(vm, nic)
  expect(moved(before, { ...before, bridge: ' vmbr0 ' })).toEqual([])
  const now = { ...before, tag: '20', rate: '', firewall: '', link_down: 'true' }
  expect(nicCommand(vm, nic, before, now)).toMatchObject({
    path: '/api/v1/vms/{vm_id}/network/{iface}',
    options: {
      path: { vm_id: 3, iface: 'net0' },
      body: { digest: 'd1', tag: 20, rate: null, firewall: false, link_down: true },
    },
  })
  expect(nicCommand(vm, { ...nic, digest: null }, before, { ...before, mtu: '1400' }).options.body).toEqual({ mtu: 1400 })
})

test('what is no number is sent as it was typed, for the service to refuse it at its field', () => {
  const before = fieldsOf(app, nic)
  const now = { ...before, tag: 'twenty', rate: '12,5', ip: ' dhcp ', gw: '' }
  const request = nicCommand(app, nic, before, now)
  expect(request).toMatchObject({ path: '/api/v1/apps/{app_id}/network/{iface}', options: { path: { app_id: 4 } } })
  expect(request.options.body).toEqual({ digest: 'd1', tag: 'twenty', rate: '12,5', ip: 'dhcp', gw: null })
})

test('a new interface has the first free key, and names its bridge', () => {
  const fresh = newNic([nic, { ...nic, key: 'net2' }])
  expect(fresh).toMatchObject({ key: 'net1', digest: 'd1', bridge: null })
  const [before, now] = [fieldsOf(app, fresh), firstFields(app, fresh, nic)]
  expect(nicCommand(app, fresh, before, now)).toMatchObject({
    path: '/api/v1/apps/{app_id}/network/{iface}',
    options: { path: { app_id: 4, iface: 'net1' }, body: { digest: 'd1', bridge: 'vmbr0', firewall: true, ip: 'dhcp' } },
  })
  expect(firstFields(vm, newNic([]), undefined)).toMatchObject({ bridge: '', firewall: '' })
})
