import type { Edit } from './bench.svelte'
import type { Wanted } from './conflict'
import { newRule, patch, patchOfDraft, written } from './rules'
import { changeRule, createRule, deleteRule, moveRule, type Rule, type Scope } from './scope'

/** editOfRule returns a change of a list of rules for the firewall and for a draft. here is the current rule at that index. */
export function editOfRule(scope: Scope, here: Rule | undefined, digest: string | null, wanted: Wanted): Edit {
  const { pos } = wanted
  const held = digest ? { digest } : {}
  switch (wanted.act) {
    case 'create': {
      const rule = newRule(wanted.rule)
      return {
        direct: createRule(scope, { ...rule, pos, ...held }),
        change: { action: 'create_rule', pos, rule: rule as NonNullable<Edit['change']['rule']> },
      }
    }
    case 'change': {
      const before = here ? written(here) : wanted.rule
      return {
        direct: changeRule(scope, pos, { ...patch(before, wanted.rule), ...held }),
        change: { action: 'change_rule', pos, rule: patchOfDraft(before, wanted.rule) },
      }
    }
    case 'move':
      return {
        direct: moveRule(scope, pos, { moveto: wanted.to, ...held }),
        change: { action: 'move_rule', pos, to: wanted.to },
      }
    case 'delete':
      return { direct: deleteRule(scope, pos, digest), change: { action: 'delete_rule', pos } }
  }
}
