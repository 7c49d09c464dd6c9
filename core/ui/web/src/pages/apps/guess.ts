// Which entry has probably made a container: the one that is called like it, as the service itself guesses.
import type { components } from '../../api/schema'

/** bare is a name in small letters and digits alone. */
const bare = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{Nd}]/gu, '')

/** guesses gives a function that tells the entry of a container's name; empty where none is called so, or several are. */
export function guesses(items: components['schemas']['CatalogItem'][]): (name: string) => string {
  const paths = new Map<string, string>()
  for (const { slug, name, installable } of items) {
    if (!installable) continue
    // Of most sources an entry is known by the source's name and its own.
    for (const called of new Set([bare(slug.slice(slug.indexOf('/') + 1)), bare(name)])) {
      const other = paths.get(called)
      paths.set(called, other === undefined || other === slug ? slug : '')
    }
  }
  paths.delete('')
  return (name) => paths.get(bare(name)) ?? ''
}
