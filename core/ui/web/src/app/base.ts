/** The path that the page is served below, with a slash at its end: a proxy may give it one. Scripts are in assets/ below it. */
export const base = import.meta.env.DEV ? '/' : new URL(/* @vite-ignore */ '../', import.meta.url).pathname

/** href is the address of a path of the page or of the API. */
export const href = (path: string): string => base + path.replace(/^\//, '')

/** inner is the path of the page in an address; null for an address that is not below it. */
export function inner(pathname: string): string | null {
  return pathname.startsWith(base) ? '/' + pathname.slice(base.length) : pathname + '/' === base ? '/' : null
}
