// The networks of nodes: how interfaces depend on each other, and an interface in a form.
import type { components } from '../../api/schema'

export type Bridges = components['schemas']['NetworkBridges']
export type NodeNetwork = components['schemas']['NetworkNode']
export type Interface = components['schemas']['NetworkInterface']
export type Attachment = components['schemas']['NetworkAttachment']
/** The types that can be created here. */
export type Made = 'bridge' | 'bond' | 'vlan'
export type Staging = components['schemas']['EditBridgeRequest']['config']

/** groups are the types in the order in which they are shown; all others come last. */
export const groups = [
  'bridge',
  'ovs_bridge',
  'bond',
  'ovs_bond',
  'vlan',
  'alias',
  'nic',
  'ovs_port',
  'ovs_internal',
  'other',
] as const

export const sorted = (all: Interface[]): Interface[] =>
  all.toSorted((a, b) => groups.indexOf(a.type) - groups.indexOf(b.type) || a.name.localeCompare(b.name, 'en', { numeric: true }))

export const isBridge = ({ type }: Interface): boolean => type === 'bridge' || type === 'ovs_bridge'

/** carries reports whether the traffic of one interface passes through another one, directly or indirectly. */
function carries(all: Interface[], from: Interface, name: string): boolean {
  const seen = new Set<string>()
  const todo = [from.name]
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (next === name) return true
    if (seen.has(next)) continue
    seen.add(next)
    const one = all.find((other) => other.name === next || other.alt_names.includes(next))
    if (one) todo.push(one.name, ...one.ports, ...(one.device ? [one.device] : []))
    for (const port of all)
      if (port.device === next && (port.type === 'ovs_bond' || port.type === 'ovs_port')) todo.push(port.name)
  }
  return false
}

/** above returns the bridges that are this interface, or depend on it. */
export const above = (all: Interface[], one: Interface): string[] =>
  all.filter((bridge) => isBridge(bridge) && carries(all, bridge, one.name)).map(({ name }) => name)

/** on returns the guests on bridges of a node, each once for each bridge. */
export function on(attachments: Attachment[], node: NodeNetwork, bridges: string[]): Attachment[] {
  const seen = new Set<string>()
  return attachments.filter((one) => {
    const key = `${one.guest_id} ${one.bridge}`
    if (one.cluster_id !== node.cluster_id || one.node !== node.node || !bridges.includes(one.bridge) || seen.has(key))
      return false
    seen.add(key)
    return true
  })
}

/** Settings is an interface in a form: all texts. */
export interface Settings {
  cidr: string
  gateway: string
  cidr6: string
  gateway6: string
  mtu: string
  comment: string
  autostart: boolean
  ports: string
  vlan_aware: boolean
  vlans: string
  bond_mode: string
  bond_primary: string
  bond_hash: string
  device: string
  vlan: string
}

export const modes = ['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb', 'balance-alb'] as const
export const hashes = ['layer2', 'layer2+3', 'layer3+4'] as const

const none: Settings = {
  cidr: '',
  gateway: '',
  cidr6: '',
  gateway6: '',
  mtu: '',
  comment: '',
  autostart: true,
  ports: '',
  vlan_aware: false,
  vlans: '',
  bond_mode: '',
  bond_primary: '',
  bond_hash: '',
  device: '',
  vlan: '',
}

/** settingsOf returns an interface for the form, or a new one. */
export function settingsOf(one: Interface | undefined): Settings {
  if (!one) return { ...none }
  return {
    cidr: one.cidr ?? '',
    gateway: one.gateway ?? '',
    cidr6: one.cidr6 ?? '',
    gateway6: one.gateway6 ?? '',
    mtu: one.mtu === null ? '' : String(one.mtu),
    comment: one.comment,
    autostart: one.autostart,
    ports: one.ports.join(' '),
    vlan_aware: one.vlan_aware,
    vlans: one.vlans ?? '',
    bond_mode: one.bond_mode ?? '',
    bond_primary: one.bond_primary ?? '',
    bond_hash: one.bond_hash ?? '',
    device: one.device ?? '',
    vlan: one.vlan === null ? '' : String(one.vlan),
  }
}

const common = ['cidr', 'gateway', 'cidr6', 'gateway6', 'mtu', 'comment', 'autostart'] as const
const own: Partial<Record<Interface['type'], readonly (keyof Settings)[]>> = {
  bridge: ['ports', 'vlan_aware', 'vlans'],
  bond: ['ports', 'bond_mode', 'bond_primary', 'bond_hash'],
  vlan: ['device', 'vlan'],
}
/** namesOf returns the settings of a type of interface. */
export const namesOf = (type: Interface['type']): readonly (keyof Settings)[] => [...common, ...(own[type] ?? [])]

const portsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** Invalid numbers are sent as typed: the service reports them at their field. */
function valueOf(name: keyof Settings, value: string | boolean): unknown {
  if (typeof value === 'boolean') return value
  const text = value.trim()
  if (name === 'ports') return portsOf(text)
  if (text === '') return null
  return (name === 'mtu' || name === 'vlan') && /^\d{1,9}$/.test(text) ? Number(text) : text
}

/**
 * configOf returns the body of a request: all filled-in values of a new interface, or the changed ones of an existing one. Any change ends
 * a dynamic address, so it includes the addresses in every case.
 */
export function configOf(type: Interface['type'], was: Interface | undefined, is: Settings): NonNullable<Staging> {
  const before = settingsOf(was)
  const config: Record<string, unknown> = {}
  for (const name of namesOf(type)) {
    const value = valueOf(name, is[name])
    const same = JSON.stringify(value) === JSON.stringify(valueOf(name, before[name]))
    if (was ? !same : value !== null && (name === 'autostart' || !same)) config[name] = value
  }
  if (was && Object.keys(config).length > 0) {
    if (was.dynamic) config.cidr = valueOf('cidr', is.cidr)
    if (was.dynamic6) config.cidr6 = valueOf('cidr6', is.cidr6)
  }
  return config
}

const quiet = ['cidr', 'gateway', 'cidr6', 'gateway6', 'comment']
/** noticed reports whether guests on a bridge would notice a change. They do not notice the node's addresses and comments. */
export const noticed = (config: object): boolean => Object.keys(config).some((name) => !quiet.includes(name))

/** DiffLine is a line of a unified diff. */
export interface DiffLine {
  kind: 'head' | 'added' | 'removed' | 'same'
  text: string
}

/** linesOf parses a unified diff. Its header has file names and times that mean nothing here. */
export function linesOf(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let begun = false
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (!begun && (line.startsWith('--- ') || line.startsWith('+++ '))) continue
    begun = true
    const sign = line[0]
    if (line.startsWith('@@')) lines.push({ kind: 'head', text: line })
    else lines.push({ kind: sign === '+' ? 'added' : sign === '-' ? 'removed' : 'same', text: line.slice(1) })
  }
  return lines
}

/** Texts describe the affected guests. */
export interface Texts {
  attached: (guest: string, bridge: string) => string
  unknown: (n: number) => string
  others: (n: number) => string
}

/**
 * planOf returns who would notice a change of an interface: the guests on bridges that depend on it. Like the service, it requires the
 * phrase if there are or may be any. A change of a staged interface affects nobody.
 */
export function planOf(found: Bridges, node: NodeNetwork, one: Interface, texts: Texts): components['schemas']['Plan'] {
  const bridges = one.staged === 'added' ? [] : above(node.interfaces, one)
  const hit = on(found.attachments, node, bridges)
  const unsure = bridges.length > 0 && (found.unknown > 0 || found.others > 0)
  return {
    effects: hit.map(({ name, bridge }) => ({
      kind: 'guest',
      text: texts.attached(name, bridge),
      name,
      size_bytes: null,
      at: null,
    })),
    warnings: [
      ...(unsure && found.unknown ? [texts.unknown(found.unknown)] : []),
      ...(unsure && found.others ? [texts.others(found.others)] : []),
    ],
    blockers: [],
    confirm_phrase: hit.length > 0 || unsure ? one.name : null,
    is_self: false,
    digest: '',
  }
}
