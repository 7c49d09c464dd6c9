// The filter of the list of guests: tag:prod status:running node:pve1 cpu:>80 is:app.
import { daysSince, filterOf, parse, spans, type Fields } from '../../kit/query'
import { allGuests, type Guest } from '../../live/guests.svelte'

const GiB = 2 ** 30
const percents = { '%': 1 }
const offersOf = (of: (guest: Guest) => string | string[]) => (): string[] => [...new Set(allGuests().flatMap(of))]

export const guestFields: Fields<Guest> = {
  words: (g) => [g.name, g.app, g.node, g.host, g.cluster, g.guest_ref, ...g.tags, ...(g.addresses ?? [])],
  fields: {
    name: { texts: (g) => [g.name, g.app] },
    status: { texts: (g) => [g.status], values: ['running', 'stopped', 'paused', 'suspended', 'pending', 'unknown'] },
    tag: { texts: (g) => g.tags, offers: offersOf((g) => g.tags) },
    host: { texts: (g) => [g.host], offers: offersOf((g) => g.host) },
    node: { texts: (g) => [g.node], offers: offersOf((g) => g.node) },
    cluster: { texts: (g) => [g.cluster], offers: offersOf((g) => g.cluster) },
    team: { texts: (g) => [g.team], offers: offersOf((g) => g.team) },
    pool: { texts: (g) => [g.pool], offers: offersOf((g) => g.pool) },
    lock: { texts: (g) => [g.lock], offers: offersOf((g) => g.lock) },
    ip: { texts: (g) => g.addresses ?? [] },
    is: {
      texts: (g) => [g.kind, g.app_id !== null && 'app', g.template && 'template', g.is_self && 'self'].map((one) => one || ''),
      values: ['vm', 'container', 'app', 'template', 'self'],
    },
    cpu: { number: (g) => (g.cpu === null ? null : g.cpu * 100), units: percents },
    memory: {
      number: (g) => (g.memory_bytes === null || !g.memory_total_bytes ? null : (g.memory_bytes / g.memory_total_bytes) * 100),
      units: percents,
    },
    size: {
      number: (g) => (g.memory_total_bytes === null ? null : g.memory_total_bytes / GiB),
      units: { MiB: 2 ** -10, GiB: 1, TiB: 2 ** 10 },
    },
    vmid: { number: (g) => g.vmid },
    backup: { number: (g) => daysSince(g.backup_at), units: spans },
    up: { number: (g) => (g.uptime_s ? g.uptime_s / 86_400 : null), units: spans },
  },
}

/** filter returns a test for the typed text. It never fails: unknown fields count as words. */
export const filter = (query: string): ((guest: Guest) => boolean) => filterOf(parse(query, guestFields), guestFields)
