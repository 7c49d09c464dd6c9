// The only test of rights in the page. The service decides; the page explains.
import { operations, type OperationId } from '../api/operations'
import { leading } from '../kit/leads'
import { t } from '../words/words'
import { session } from './session.svelte'

const ranks = ['viewer', 'operator', 'admin', 'owner']

/** Thing is what an operation is on: what belongs to a team has the team's id, and what is on a host the host's. */
interface Thing {
  team_id?: number | null
  host_id?: number | null
  /** A host by itself has its tokens. */
  id?: number
  name?: string
  capabilities?: { key: string }[]
}

/** Tokens are those of a host, by what they are for. */
interface Tokens {
  id: number
  name: string
  capabilities: { key: string }[]
}

let tokensOf: (host: number) => Tokens | undefined = () => undefined

/** knowTokens is told how to find the tokens of a host, by what loads hosts; until then nothing is known to lack. */
export function knowTokens(find: typeof tokensOf): void {
  tokensOf = find
}

/** whyNoToken says that the host of a thing has no token for what it needs. A host whose tokens are not shown lacks none. */
function whyNoToken(token: string, thing: Thing): string | undefined {
  const { id, name, capabilities } = thing
  const own = capabilities && id !== undefined && name !== undefined ? { id, name, capabilities } : undefined
  const host = own ?? (thing.host_id ? tokensOf(thing.host_id) : undefined)
  if (!host?.capabilities.length || host.capabilities.some(({ key }) => key === token)) return undefined
  const text = t('may.capability', { host: host.name, capability: t(`capability.${token}` as 'capability.lifecycle') })
  return leading(text, { path: `/hosts/${host.id}?part=capabilities`, text: t('may.capability.link') })
}

/**
 * why says why the person may not do it, for the control that offers it; undefined means that they may. Without a thing, as where its team
 * is not known, a role in any team is enough.
 */
export const why = (id: OperationId, thing?: Thing): string | undefined => whyNot(session.me, id, thing)

/** Holder is somebody with roles: the one in the default team, which holds everywhere, and those in all teams. */
interface Holder {
  role: string | null
  roles: { team_id: number; role: string }[]
}

/** whyNot says the same of anybody. */
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

/** may reports whether the person may do it. */
export const may = (id: OperationId, thing?: Thing): boolean => why(id, thing) === undefined
