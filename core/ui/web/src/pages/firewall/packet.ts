// A packet in an address, and in a packet test.
import type { components } from '../../api/schema'
import { guest as find } from '../../live/guests.svelte'

type Schemas = components['schemas']
export type Tested = Schemas['FirewallTestResult']
export type ShownEnd = Schemas['FirewallEndView']

/** Packet has its ends as texts: guest:12, guest:12:net0, node:1:pve1, address:192.0.2.7, outside. */
export interface Packet {
  from: string
  to: string
  protocol: string
  dport: string
  sport: string
  icmp: string
}

export const endKinds = ['outside', 'guest', 'node', 'address'] as const
export type EndKind = (typeof endKinds)[number]

/** kindOf returns the kind of an end. */
export const kindOf = (end: string): EndKind => endKinds.find((kind) => kind === end.split(':')[0]) ?? 'outside'

/** endOf returns an end as a request needs it; undefined if it is empty, or if the guest no longer exists. */
export function endOf(text: string): Schemas['FirewallEnd'] | undefined {
  const [kind, first = '', ...rest] = text.split(':')
  const last = rest.join(':')
  switch (kind) {
    case 'outside':
      return { outside: true }
    case 'address': {
      const address = [first, ...rest].join(':').trim() // an IPv6 address has colons
      return address ? { address } : undefined
    }
    case 'node':
      return Number(first) && last ? { host_id: Number(first), node: last } : undefined
    case 'guest': {
      const guest = find(Number(first))
      if (!guest) return undefined
      const nic = last ? { nic: last } : {}
      return guest.app_id === null ? { vm_id: guest.id, ...nic } : { app_id: guest.app_id, ...nic }
    }
    default:
      return undefined
  }
}

/** requestOf returns a packet as the test needs it; undefined if an end is missing. at is current, or the ID of a draft. */
export function requestOf(packet: Packet, at: string): Schemas['TestFirewallPacketRequest'] | undefined {
  const [from, to] = [endOf(packet.from), endOf(packet.to)]
  if (!from || !to || !packet.protocol.trim()) return undefined
  const pings = /icmp/i.test(packet.protocol)
  const port = (text: string): number | undefined => (/^\d{1,5}$/.test(text.trim()) ? Number(text) : undefined)
  const [sport, dport] = pings ? [undefined, undefined] : [port(packet.sport), port(packet.dport)]
  return {
    from,
    to,
    protocol: packet.protocol.trim(),
    ...(sport === undefined ? {} : { sport }),
    ...(dport === undefined ? {} : { dport }),
    ...(pings && packet.icmp.trim() ? { icmp_type: packet.icmp.trim() } : {}),
    at,
  }
}

const names = ['from', 'to', 'protocol', 'dport', 'sport', 'icmp'] as const
/** packed returns a packet as a part of an address. */
export const packed = (packet: Packet): string => names.map((name) => encodeURIComponent(packet[name])).join('~')
/** unpacked returns the packet from a part of an address; missing fields are empty. */
export function unpacked(text: string): Packet {
  const parts = text.split('~').map((part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return '' // invalid percent-encoding
    }
  })
  return Object.fromEntries(names.map((name, i) => [name, parts[i] ?? ''])) as unknown as Packet
}

/** Must is a packet that must pass or must be blocked after a draft is applied. */
export interface Must {
  packet: Packet
  passes: boolean
}
/** The maximum number of them in an address. */
export const mostMusts = 12
export const packedMusts = (musts: readonly Must[]): string =>
  musts.map(({ packet, passes }) => `${passes ? 'y' : 'n'}${packed(packet)}`).join('!')
export const unpackedMusts = (text: string): Must[] =>
  text
    .split('!')
    .filter(Boolean)
    .slice(0, mostMusts)
    .map((one) => ({ passes: one.startsWith('y'), packet: unpacked(one.slice(1)) }))
