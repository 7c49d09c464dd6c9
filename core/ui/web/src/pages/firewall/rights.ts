import { why } from '../../app/may'
import type { Draft, Scope } from './scope'

/** whyDraft says why somebody may not change, apply or keep a draft: what it is of decides which role that needs. */
export const whyDraft = (draft: Draft, scope: Scope): string | undefined =>
  why(draft.role === 'admin' ? 'change_cluster_firewall_rule' : 'change_firewall_draft', scope)
