// What a rule would have done, by what was measured: as the service decides it at each look.

export interface Levels {
  threshold: number
  clear: number
  for_s: number
  clear_for_s: number
}

/** Firing is an alert that would have been raised, in seconds since 1970; until is null while it goes on. */
export interface Firing {
  at: number
  until: number | null
}

/** Looks are not exact: so much earlier than a rule wants is long enough, in seconds. */
const slack = 1

/**
 * replay gives the alerts over values that are step seconds apart. Nothing known is no breach and no end of one, and between the two levels
 * nothing changes.
 */
export function replay(values: (number | null)[], from: number, step: number, levels: Levels): Firing[] {
  const all: Firing[] = []
  let breach: number | undefined // for how long it has been one
  let over: number | undefined // for how long it has been over
  let open: Firing | undefined
  values.forEach((value, i) => {
    const at = from + i * step
    if (value !== null && value >= levels.threshold) {
      over = undefined
      if (open) return
      breach = breach === undefined ? 0 : breach + step
      if (breach + slack >= levels.for_s) all.push((open = { at, until: null }))
    } else if (!open) breach = undefined
    else if (value !== null && value >= levels.clear) over = undefined
    else if (value !== null) {
      over = over === undefined ? 0 : over + step
      if (over + slack < levels.clear_for_s) return
      open.until = at
      open = breach = over = undefined
    }
  })
  return all
}
