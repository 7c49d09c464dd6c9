// Guesses which entry made a container: the one with the same name, as the service does.
import type { components } from '../../api/schema'

/** bare returns a name with only lower-case letters and digits. */
const bare = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{Nd}]/gu, '')

/** guesses returns a function that finds the entry for a container's name; empty if there is none, or more than one. */
export function guesses(items: components['schemas']['CatalogItem'][]): (name: string) => string {
  const paths = new Map<string, string>()
  for (const { slug, name, installable } of items) {
    if (!installable) continue
    // In most sources, the ID of an entry consists of the source's name and its own.
    for (const called of new Set([bare(slug.slice(slug.indexOf('/') + 1)), bare(name)])) {
      const other = paths.get(called)
      paths.set(called, other === undefined || other === slug ? slug : '')
    }
  }
  paths.delete('')
  return (name) => paths.get(bare(name)) ?? ''
}
