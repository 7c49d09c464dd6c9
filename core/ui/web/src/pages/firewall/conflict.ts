// Conflicts between two editors of one list of rules: the original list, the user's change, and the other person's result.
import { newRule, patch, textFields, textOf, written, type Written } from './rules'
import type { Rule } from './scope'

/** Wanted is one change of a list of rules, at its index in the list that was loaded. */
export type Wanted =
  | { act: 'create'; pos: number; rule: Written }
  | { act: 'change'; pos: number; rule: Written }
  | { act: 'delete'; pos: number }
  | { act: 'move'; pos: number; to: number }

/** Row is one rule in the three lists; undefined in a list that lacks it. */
export interface Row {
  key: string
  before: Rule | undefined
  mine: Rule | undefined
  now: Rule | undefined
  /** Its current position, or the position at which it would be inserted. */
  at: number
  /** The position to which the user moved it, in the current list. */
  to?: number
}

const same = (a: Rule | undefined, b: Rule | undefined): boolean => (a ? textOf(a) : '') === (b ? textOf(b) : '')
export const mineDiffers = (row: Row): boolean => !same(row.before, row.mine) || row.to !== undefined
export const theirsDiffers = (row: Row): boolean => !same(row.before, row.now)
/** settled rows need no decision: both versions agree. */
export const settled = (row: Row): boolean => same(row.mine, row.now) && row.to === undefined

const fields = [...textFields, 'type', 'enable'] as const
/** likeness returns how much two rules have in common, from 0 to 1. */
function likeness(a: Rule, b: Rule): number {
  const set = fields.filter((name) => a[name] || b[name])
  return set.filter((name) => a[name] === b[name]).length / Math.max(1, set.length)
}

/** alike pairs removed and added rules at one place, in order: two rules that have half in common are one changed rule. */
function alike(gone: readonly Rule[], come: readonly Rule[]): [Rule | undefined, Rule | undefined][] {
  const best = Array.from({ length: gone.length + 1 }, () => new Array<number>(come.length + 1).fill(0))
  const score = (i: number, j: number): number => {
    const part = likeness(gone[i]!, come[j]!)
    return part < 0.5 ? -1 : part
  }
  for (let i = gone.length - 1; i >= 0; i--)
    for (let j = come.length - 1; j >= 0; j--)
      best[i]![j] = Math.max(best[i + 1]![j]!, best[i]![j + 1]!, score(i, j) + best[i + 1]![j + 1]!)
  const out: [Rule | undefined, Rule | undefined][] = []
  let [i, j] = [0, 0]
  while (i < gone.length && j < come.length) {
    if (best[i]![j] === score(i, j) + best[i + 1]![j + 1]!) out.push([gone[i++], come[j++]])
    else if (best[i]![j] === best[i + 1]![j]!) out.push([gone[i++], undefined])
    else out.push([undefined, come[j++]])
  }
  while (i < gone.length) out.push([gone[i++], undefined])
  while (j < come.length) out.push([undefined, come[j++]])
  return out
}

/** pairs returns the rules of both lists side by side, in an order that keeps both: as many as possible are equal. */
function pairs(a: readonly Rule[], b: readonly Rule[]): [Rule | undefined, Rule | undefined][] {
  const [left, right] = [a.map(textOf), b.map(textOf)]
  const length = left.map(() => new Array<number>(right.length + 1).fill(0))
  length.push(new Array<number>(right.length + 1).fill(0))
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      length[i]![j] = left[i] === right[j] ? length[i + 1]![j + 1]! + 1 : Math.max(length[i + 1]![j]!, length[i]![j + 1]!)
  const out: [Rule | undefined, Rule | undefined][] = []
  let [gone, come]: [Rule[], Rule[]] = [[], []]
  const flush = (): void => {
    out.push(...alike(gone, come))
    ;[gone, come] = [[], []]
  }
  let [i, j] = [0, 0]
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      flush()
      out.push([a[i++], b[j++]])
    } else if (j >= right.length || (i < left.length && length[i + 1]![j]! >= length[i]![j + 1]!)) gone.push(a[i++]!)
    else come.push(b[j++]!)
  }
  flush()
  return out
}

const ruleOf = (rule: Written, of?: Rule): Rule => {
  const fields = Object.fromEntries(Object.entries(rule).map(([name, value]) => [name, value === '' ? null : value]))
  return { ...(of ?? { pos: 0, digest: null }), ...fields, enable: rule.enable ? 1 : 0 } as Rule
}

/** rowsOf puts the three lists side by side. */
export function rowsOf(before: readonly Rule[], wanted: Wanted, now: readonly Rule[]): Row[] {
  let at = 0
  const rows: Row[] = pairs(before, now).map(([was, is], i) => {
    const row: Row = { key: String(i), before: was, mine: was, now: is, at }
    if (is) at++
    return row
  })
  const of = (pos: number): number => rows.findIndex((row) => row.before !== undefined && before.indexOf(row.before) === pos)
  const here = rows[of(wanted.pos)]
  if (wanted.act === 'create') {
    const i = of(wanted.pos)
    const made = {
      key: 'new',
      before: undefined,
      mine: ruleOf(wanted.rule),
      now: undefined,
      at: i < 0 ? now.length : rows[i]!.at,
    }
    rows.splice(i < 0 ? rows.length : i, 0, made)
  } else if (!here) return rows
  else if (wanted.act === 'change') here.mine = ruleOf(wanted.rule, here.before)
  else if (wanted.act === 'delete') here.mine = undefined
  else if (here.now) {
    // It goes before or after the rule that it was moved to, wherever that rule is now.
    const target = rows[of(wanted.to)]
    here.to = Math.min(target?.at ?? now.length - 1, now.length - 1)
    if (here.to === here.at) delete here.to
  }
  return rows
}

export type Step =
  | { act: 'create'; pos: number; body: ReturnType<typeof newRule> }
  | { act: 'change'; pos: number; body: ReturnType<typeof patch> }
  | { act: 'delete'; pos: number }
  | { act: 'move'; pos: number; to: number }

/** steps changes the current list into the chosen result. mine contains the keys of the rows that get the user's version. */
export function steps(rows: readonly Row[], mine: ReadonlySet<string>): Step[] {
  const out: Step[] = []
  const chosen = rows.filter((row) => mine.has(row.key) && !settled(row))
  // From the end, so that earlier indexes do not change.
  for (const row of chosen.toReversed()) {
    if (row.now && !row.mine) out.push({ act: 'delete', pos: row.at })
    else if (row.now && row.mine && !same(row.now, row.mine))
      out.push({ act: 'change', pos: row.at, body: patch(written(row.now), written(row.mine)) })
    else if (!row.now && row.mine) out.push({ act: 'create', pos: row.at, body: newRule(written(row.mine)) })
  }
  const moved = chosen.find((row) => row.to !== undefined && row.now && row.mine)
  if (moved?.to !== undefined) {
    const shift = (place: number): number =>
      chosen.reduce((sum, row) => {
        if (row.at > place || row === moved) return sum
        if (!row.now && row.mine) return sum + 1
        return row.now && !row.mine && row.at < place ? sum - 1 : sum
      }, place)
    out.push({ act: 'move', pos: shift(moved.at), to: shift(moved.to) })
  }
  return out
}
