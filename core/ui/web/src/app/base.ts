/** The path at which the page is served, with a trailing slash. A proxy may set one. Scripts are in assets/ below it. */
export const base = import.meta.env.DEV ? '/' : new URL(/* @vite-ignore */ '../', import.meta.url).pathname

/** href returns the address of a path of the page or the API. */
export const href = (path: string): string => base + path.replace(/^\//, '')

/** inner returns the page's path in an address; null if the address is outside of the page. */
export function inner(pathname: string): string | null {
  return pathname.startsWith(base) ? '/' + pathname.slice(base.length) : pathname + '/' === base ? '/' : null
}
