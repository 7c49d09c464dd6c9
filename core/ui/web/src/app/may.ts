// The only test of rights in the page. The service decides; the page explains.
import { operations, type OperationId } from '../api/operations'
import { t } from '../words/words'
import { session } from './session.svelte'

const ranks = ['viewer', 'operator', 'admin', 'owner']

/** Thing is what an operation is on: what belongs to a team has the team's id. */
interface Thing {
  team_id?: number | null
}

/**
 * why says why the person may not do it, for the control that offers it; undefined means that they may. Without a thing, as where its team
 * is not known, a role in any team is enough.
 */
export function why(id: OperationId, thing?: Thing): string | undefined {
  const [role = '', on = '', entitlement = ''] = operations[id].split(' ')
  if (entitlement && session.off.includes(entitlement)) return t('may.entitlement', { feature: entitlement })
  if (role === 'none') return undefined
  const held = [session.me?.role ?? '']
  for (const membership of session.me?.roles ?? []) {
    const there = thing === undefined || thing.team_id === membership.team_id
    if (on === 'anywhere' || (on !== 'instance' && there)) held.push(membership.role)
  }
  const rank = Math.max(...held.map((r) => ranks.indexOf(r)))
  return rank >= ranks.indexOf(role) ? undefined : t('may.role', { role: t(`role.${role}` as 'role.viewer') })
}

/** may reports whether the person may do it. */
export const may = (id: OperationId, thing?: Thing): boolean => why(id, thing) === undefined
