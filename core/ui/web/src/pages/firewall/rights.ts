import { why } from '../../app/may'
import type { Draft, Scope } from './scope'

/** whyDraft returns why the user may not change, apply or confirm a draft. Its scopes decide which role is needed. */
export const whyDraft = (draft: Draft, scope: Scope): string | undefined =>
  why(draft.role === 'admin' ? 'change_cluster_firewall_rule' : 'change_firewall_draft', scope)
