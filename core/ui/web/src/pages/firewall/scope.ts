// The scopes of firewalls: a cluster, a node, a security group or a guest. All have the same operations at their own paths.
import { command } from '../../api/client'
import type { OperationId } from '../../api/operations'
import type { components } from '../../api/schema'
import type { Guest } from '../../live/guests.svelte'

type Schemas = components['schemas']
export type Rule = Schemas['FirewallRule']
export type Alias = Schemas['FirewallAlias']
export type IPSet = Schemas['FirewallIPSet']
export type Member = Schemas['FirewallIPSetMember']
export type Options = Schemas['FirewallOptions']
export type Reference = Schemas['FirewallReference']
export type Draft = Schemas['Draft']
export type Change = Schemas['DraftChange']

/** host is the host through which the cluster is reached; team is the host's team. */
export type Scope = { host: number; team_id: number; name: string } & (
  | { kind: 'cluster' }
  | { kind: 'node'; node: string }
  | { kind: 'group'; group: string }
  | { kind: 'vm' | 'app'; id: number; guest: number }
)
/** Furnished has options, a log and references, which a group does not have. */
export type Furnished = Exclude<Scope, { kind: 'group' }>

/** ofGuest returns the firewall of a guest; undefined for a container that is not an app, which has no operations. */
export function ofGuest(guest: Guest): Scope | undefined {
  const on = { host: guest.host_id, team_id: guest.team_id, name: guest.name, guest: guest.id }
  if (guest.app_id !== null) return { ...on, kind: 'app', id: guest.app_id }
  return guest.kind === 'vm' ? { ...on, kind: 'vm', id: guest.id } : undefined
}

type Place =
  | { base: '/api/v1/apps/{app_id}/firewall'; path: { app_id: number } }
  | { base: '/api/v1/vms/{vm_id}/firewall'; path: { vm_id: number } }
  | { base: '/api/v1/firewall/cluster/{host_id}'; path: { host_id: number } }
  | { base: '/api/v1/firewall/nodes/{host_id}/{node}'; path: { host_id: number; node: string } }
  | { base: '/api/v1/firewall/cluster/{host_id}/groups/{group}'; path: { host_id: number; group: string } }

function place(scope: Scope): Place {
  switch (scope.kind) {
    case 'app':
      return { base: '/api/v1/apps/{app_id}/firewall', path: { app_id: scope.id } }
    case 'vm':
      return { base: '/api/v1/vms/{vm_id}/firewall', path: { vm_id: scope.id } }
    case 'cluster':
      return { base: '/api/v1/firewall/cluster/{host_id}', path: { host_id: scope.host } }
    case 'node':
      return { base: '/api/v1/firewall/nodes/{host_id}/{node}', path: { host_id: scope.host, node: scope.node } }
    case 'group':
      return { base: '/api/v1/firewall/cluster/{host_id}/groups/{group}', path: { host_id: scope.host, group: scope.group } }
  }
}
const furnished = (scope: Furnished) => place(scope) as Exclude<Place, { path: { group: string } }>

/** right returns the operation of this scope; % in the name stands for the scope's word. */
export const right = (scope: Scope, id: string): OperationId => id.replace('%', `${scope.kind}_firewall`) as OperationId

/** on returns the scope as a draft names it. */
export function on(scope: Scope): Change['scope'] {
  switch (scope.kind) {
    case 'node':
      return { kind: 'node', node: scope.node }
    case 'group':
      return { kind: 'group', group: scope.group }
    case 'cluster':
      return { kind: 'cluster' }
    default:
      return { kind: scope.kind, id: scope.id }
  }
}

/** changesOf returns the changes of a draft that belong to this scope. */
export function changesOf(draft: Draft | undefined, scope: Scope): Change[] {
  const mine = on(scope)
  return (draft?.changes ?? []).filter(
    ({ scope: one }) => one.kind === mine.kind && one.id === mine.id && one.node === mine.node && one.group === mine.group,
  )
}

/** addressOf returns a scope in an address: cluster:1, node:1:pve1, group:1:web, guest:12. */
export function addressOf(scope: Scope): string {
  switch (scope.kind) {
    case 'cluster':
      return `cluster:${scope.host}`
    case 'node':
      return `node:${scope.host}:${scope.node}`
    case 'group':
      return `group:${scope.host}:${scope.group}`
    default:
      return `guest:${scope.guest}`
  }
}

/** link returns the path of the firewall page at a scope; with a rule, it marks the rule. */
export function link(address: string, more: Record<string, string> = {}): string {
  return `/firewall?${new URLSearchParams({ scope: address, ...more })}`
}

export function listRules(scope: Scope) {
  const { base, path } = place(scope)
  return command('get', `${base}/rules` as const, { path })
}
export function createRule(scope: Scope, body: Schemas['FirewallRuleIn']) {
  const { base, path } = place(scope)
  return command('post', `${base}/rules` as const, { path, body })
}
export function changeRule(scope: Scope, pos: number, body: Schemas['FirewallRulePatch']) {
  const { base, path } = place(scope)
  return command('put', `${base}/rules/{pos}` as const, { path: { ...path, pos }, body })
}
export function moveRule(scope: Scope, pos: number, body: Schemas['FirewallMoveIn']) {
  const { base, path } = place(scope)
  return command('put', `${base}/rules/{pos}/move` as const, { path: { ...path, pos }, body })
}
export function deleteRule(scope: Scope, pos: number, digest: string | null) {
  const { base, path } = place(scope)
  return command('delete', `${base}/rules/{pos}` as const, { path: { ...path, pos }, query: digest ? { digest } : {} })
}

export function listAliases(scope: Scope) {
  const { base, path } = place(scope)
  return command('get', `${base}/aliases` as const, { path })
}
export function createAlias(scope: Scope, body: Schemas['FirewallAliasIn']) {
  const { base, path } = place(scope)
  return command('post', `${base}/aliases` as const, { path, body })
}
export function changeAlias(scope: Scope, name: string, body: Schemas['FirewallAliasPatch']) {
  const { base, path } = place(scope)
  return command('put', `${base}/aliases/{name}` as const, { path: { ...path, name }, body })
}
export function deleteAlias(scope: Scope, name: string, digest: string | null, confirm: string) {
  const { base, path } = place(scope)
  return command('delete', `${base}/aliases/{name}` as const, { path: { ...path, name }, query: asked(digest, confirm) })
}

export function listSets(scope: Scope) {
  const { base, path } = place(scope)
  return command('get', `${base}/ipsets` as const, { path })
}
export function createSet(scope: Scope, body: Schemas['FirewallIpSetIn']) {
  const { base, path } = place(scope)
  return command('post', `${base}/ipsets` as const, { path, body })
}
export function deleteSet(scope: Scope, name: string, digest: string | null, confirm: string) {
  const { base, path } = place(scope)
  return command('delete', `${base}/ipsets/{name}` as const, { path: { ...path, name }, query: asked(digest, confirm) })
}
export function listMembers(scope: Scope, name: string) {
  const { base, path } = place(scope)
  return command('get', `${base}/ipsets/{name}/members` as const, { path: { ...path, name } })
}
export function addMember(scope: Scope, name: string, body: Schemas['FirewallMemberIn']) {
  const { base, path } = place(scope)
  return command('post', `${base}/ipsets/{name}/members` as const, { path: { ...path, name }, body })
}
export function changeMember(scope: Scope, name: string, cidr: string, body: Schemas['FirewallMemberPatch']) {
  const { base, path } = place(scope)
  return command('put', `${base}/ipsets/{name}/members/{cidr}` as const, { path: { ...path, name, cidr }, body })
}
export function removeMember(scope: Scope, name: string, cidr: string, digest: string | null) {
  const { base, path } = place(scope)
  const query = digest ? { digest } : {}
  return command('delete', `${base}/ipsets/{name}/members/{cidr}` as const, { path: { ...path, name, cidr }, query })
}

export function getOptions(scope: Furnished) {
  const { base, path } = furnished(scope)
  return command('get', `${base}/options` as const, { path })
}
export function changeOptions(scope: Furnished, body: Schemas['FirewallOptionsIn']) {
  const { base, path } = furnished(scope)
  return command('put', `${base}/options` as const, { path, body })
}
export function listReferences(scope: Furnished) {
  const { base, path } = furnished(scope)
  return command('get', `${base}/refs` as const, { path })
}
export function readLog(scope: Furnished, query: { since?: string; limit: number }) {
  const { base, path } = furnished(scope)
  return command('get', `${base}/log` as const, { path, query })
}
/** logStream returns the address of the live log. */
export function logStream(scope: Furnished, query: Record<string, string | number>) {
  const { base, path } = furnished(scope)
  return { path: `${base}/log/stream`, options: { path, query } }
}

const asked = (digest: string | null, confirm: string): { digest?: string; confirm?: string } => ({
  ...(digest ? { digest } : {}),
  ...(confirm ? { confirm } : {}),
})
