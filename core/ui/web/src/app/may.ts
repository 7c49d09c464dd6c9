// The only check of permissions in the page. The service decides; the page explains.
import { operations, type OperationId } from '../api/operations'
import { leading } from '../kit/leads'
import { t } from '../words/words'
import { session } from './session.svelte'

const ranks = ['viewer', 'operator', 'admin', 'owner']

/** Thing is the object of an operation. If it belongs to a team, it has the team's ID; if it is on a host, it has the host's ID. */
interface Thing {
  team_id?: number | null
  host_id?: number | null
  /** A host has its own tokens. */
  id?: number
  name?: string
  capabilities?: { key: string }[]
}

/** Tokens are the tokens of a host, by capability. */
interface Tokens {
  id: number
  name: string
  capabilities: { key: string }[]
}

let tokensOf: (host: number) => Tokens | undefined = () => undefined

/** knowTokens sets how to find the tokens of a host. The code that loads hosts calls it; before that, no token counts as missing. */
export function knowTokens(find: typeof tokensOf): void {
  tokensOf = find
}

/**
 * whyNoToken explains that the host of a thing has no token for the operation. If the host's tokens are not shown, none counts as missing.
 */
function whyNoToken(token: string, thing: Thing): string | undefined {
  const { id, name, capabilities } = thing
  const own = capabilities && id !== undefined && name !== undefined ? { id, name, capabilities } : undefined
  const host = own ?? (thing.host_id ? tokensOf(thing.host_id) : undefined)
  if (!host?.capabilities.length || host.capabilities.some(({ key }) => key === token)) return undefined
  const text = t('may.capability', { host: host.name, capability: t(`capability.${token}` as 'capability.lifecycle') })
  return leading(text, { path: `/hosts/${host.id}?part=capabilities`, text: t('may.capability.link') })
}

/**
 * why returns the reason why the user may not run an operation, for the control that offers it; undefined if they may. Without a thing, for
 * example if its team is unknown, a role in any team is enough.
 */
export const why = (id: OperationId, thing?: Thing): string | undefined => whyNot(session.me, id, thing)

/** Holder is somebody with roles: the one in the default team, which applies everywhere, and those in all teams. */
interface Holder {
  role: string | null
  roles: { team_id: number; role: string }[]
}

/** whyNot returns the same for any holder. */
export function whyNot(who: Holder | undefined, id: OperationId, thing?: Thing): string | undefined {
  const [role = '', on = '', entitlement = '', token = ''] = operations[id].split(' ')
  if (entitlement && session.off.includes(entitlement)) {
    const text = t('may.entitlement', { feature: entitlement })
    return leading(text, { path: '/settings', text: t('may.entitlement.link') })
  }
  if (role === 'none') return undefined
  const held = [who?.role ?? '']
  for (const membership of who?.roles ?? []) {
    const there = thing === undefined || thing.team_id === membership.team_id
    if (on === 'anywhere' || (on !== 'instance' && there)) held.push(membership.role)
  }
  const rank = Math.max(...held.map((r) => ranks.indexOf(r)))
  if (rank < ranks.indexOf(role)) return t('may.role', { role: t(`role.${role}` as 'role.viewer') })
  return token && thing ? whyNoToken(token, thing) : undefined
}

/** may reports whether the user may run the operation. */
export const may = (id: OperationId, thing?: Thing): boolean => why(id, thing) === undefined
