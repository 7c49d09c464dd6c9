// What two browsers of one person have chosen becomes one again.
import type { Preferences } from './preferences.svelte'

/**
 * merge is what holds when mine and theirs were both changed from base: what was changed here, and else theirs. Views are added and
 * forgotten one by one, by their names.
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
