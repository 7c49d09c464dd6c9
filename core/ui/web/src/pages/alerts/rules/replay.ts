// Evaluates a rule against past measurements, in the same way as the service does.

export interface Levels {
  threshold: number
  clear: number
  for_s: number
  clear_for_s: number
}

/** Firing is an alert that would have been raised, in seconds since 1970; until is null while it lasts. */
export interface Firing {
  at: number
  until: number | null
}

/** The service does not evaluate at exact times: a duration that is this many seconds shorter is long enough. */
const slack = 1

/**
 * replay returns the alerts for values that are step seconds apart. An unknown value neither starts nor ends a breach, and between the two
 * levels nothing changes.
 */
export function replay(values: (number | null)[], from: number, step: number, levels: Levels): Firing[] {
  const all: Firing[] = []
  let breach: number | undefined // how long it has been a breach
  let over: number | undefined // how long it has been over
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
