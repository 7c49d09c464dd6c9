import { expect, test } from 'vitest'
import {
  above,
  configOf,
  linesOf,
  noticed,
  planOf,
  settingsOf,
  type Bridges,
  type Interface,
  type NodeNetwork,
} from './interface'

const none = (name: string, type: Interface['type'], more: Partial<Interface> = {}): Interface => ({
  name,
  type,
  active: true,
  staged: null,
  autostart: true,
  cidr: null,
  gateway: null,
  cidr6: null,
  gateway6: null,
  dynamic: false,
  dynamic6: false,
  ports: [],
  device: null,
  vlan: null,
  vlan_aware: false,
  vlans: null,
  bond_mode: null,
  bond_primary: null,
  bond_hash: null,
  mtu: null,
  comment: '',
  alt_names: [],
  options: {},
  ...more,
})
const all = [
  none('eno1', 'nic', { alt_names: ['enp1s0'] }),
  none('eno2', 'nic'),
  none('bond0', 'bond', { ports: ['enp1s0'] }),
  none('bond0.20', 'vlan', { device: 'bond0', vlan: 20 }),
  none('vmbr0', 'bridge', { ports: ['bond0'], cidr: '192.0.2.10/24', gateway: '192.0.2.1' }),
  none('vmbr1', 'bridge', { ports: ['bond0.20'], staged: 'added' }),
  none('loop', 'bridge', { ports: ['loop'] }),
]
const node: NodeNetwork = {
  host_id: 1,
  host: 'lab',
  cluster_id: 7,
  cluster: 'prod',
  node: 'pve1',
  interfaces: all,
  staged: null,
  staged_by: [],
}
const guest = (guest_id: number, name: string, more: object = {}): Bridges['attachments'][number] => ({
  cluster_id: 7,
  node: 'pve1',
  bridge: 'vmbr0',
  guest_id,
  kind: 'vm',
  name,
  vmid: 100 + guest_id,
  nic: 'net0',
  vlan: null,
  as_of: '2026-01-01T00:00:00Z',
  ...more,
})
const texts = {
  attached: (name: string, bridge: string) => `${name} ${bridge}`,
  unknown: (n: number) => `unknown ${n}`,
  others: (n: number) => `others ${n}`,
}

test('bridges stand on what is below them, by any name and at any distance', () => {
  expect(above(all, all[0]!)).toEqual(['vmbr0', 'vmbr1'])
  expect(above(all, all[1]!)).toEqual([])
  expect(above(all, all[3]!)).toEqual(['vmbr1'])
  expect(above(all, all[6]!)).toEqual(['loop'])
})

test('guests are hit by what their bridges stand on, and the phrase is wanted where there may be some', () => {
  const attachments = [guest(1, 'web'), guest(1, 'web', { nic: 'net1' }), guest(2, 'far', { node: 'pve2' }), guest(3, '<b>')]
  const found: Bridges = { nodes: [node], attachments, unknown: 0, others: 0, errors: [] }
  const hit = planOf(found, node, all[0]!, texts)
  expect(hit.effects.map((one) => one.text)).toEqual(['web vmbr0', '<b> vmbr0'])
  expect(hit.confirm_phrase).toBe('eno1')
  expect(planOf(found, node, all[1]!, texts)).toMatchObject({ effects: [], warnings: [], confirm_phrase: null })
  // No guests are on a staged interface.
  expect(planOf({ ...found, unknown: 2 }, node, all[5]!, texts).confirm_phrase).toBeNull()
  expect(planOf({ ...found, attachments: [], unknown: 2 }, node, all[4]!, texts)).toMatchObject({
    warnings: ['unknown 2'],
    confirm_phrase: 'vmbr0',
  })
})

test('a change has what differs, and clears what was emptied', () => {
  const was = all[4]!
  const is = settingsOf(was)
  expect(configOf('bridge', was, is)).toEqual({})
  expect(configOf('bridge', was, { ...is, gateway: '', mtu: '9000', ports: ' bond0, eno2 ' })).toEqual({
    gateway: null,
    mtu: 9000,
    ports: ['bond0', 'eno2'],
  })
  expect(configOf('bridge', was, { ...is, mtu: 'large' })).toEqual({ mtu: 'large' })
  expect(noticed({ gateway: null, comment: 'x' })).toBe(false)
  expect(noticed({ mtu: 9000 })).toBe(true)
  // A dynamic address ends with any change.
  expect(configOf('nic', none('eno3', 'nic', { dynamic: true }), { ...settingsOf(undefined), comment: 'uplink' })).toEqual({
    comment: 'uplink',
    cidr: null,
  })
})

test('a new one has what is filled in', () => {
  const is = { ...settingsOf(undefined), device: 'eno1', vlan: '20', bond_mode: '802.3ad' }
  expect(configOf('vlan', undefined, is)).toEqual({ device: 'eno1', vlan: 20, autostart: true })
})

test('a diff is read line by line, without the names of its files', () => {
  const diff = '--- /etc/a\t2026\n+++ /etc/b\n@@ -1,2 +1,2 @@\n same\n-iface a\n+iface <b>\n--- not a head\n'
  expect(linesOf(diff)).toEqual([
    { kind: 'head', text: '@@ -1,2 +1,2 @@' },
    { kind: 'same', text: 'same' },
    { kind: 'removed', text: 'iface a' },
    { kind: 'added', text: 'iface <b>' },
    { kind: 'removed', text: '-- not a head' },
  ])
})
