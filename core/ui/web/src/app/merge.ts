// Merges the preferences that a user has chosen in two browsers.
import type { Preferences } from './preferences.svelte'

/**
 * merge returns the result if mine and theirs were both changed from base: changes made here win, everything else is theirs. Views are
 * added and deleted one by one, by name.
 */
export function merge(base: Preferences, mine: Preferences, theirs: Preferences): Preferences {
  const merged: Record<string, unknown> = { ...theirs }
  for (const key of Object.keys(mine) as (keyof Preferences)[]) {
    if (key !== 'views' && mine[key] !== base[key]) merged[key] = mine[key]
  }
  const had = new Set(base.views.map((view) => view.name))
  const have = new Map(mine.views.map((view) => [view.name, view]))
  const views = theirs.views.filter((view) => have.has(view.name) || !had.has(view.name))
  const there = new Set(theirs.views.map((view) => view.name))
  for (const view of mine.views) if (!there.has(view.name) && !had.has(view.name)) views.push(view)
  return { ...(merged as unknown as Preferences), views }
}
