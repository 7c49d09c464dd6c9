import { href, inner } from './base'
import { routes, type Route } from './routes'

interface Place {
  route: Route | undefined
  path: string
  params: Record<string, string>
  query: URLSearchParams
}

/** match finds the route of a path, and the values of its parameters. */
export function match(path: string): Pick<Place, 'route' | 'params'> {
  const parts = path.replace(/\/$/, '').split('/')
  for (const route of routes) {
    const wanted = route.path.replace(/\/$/, '').split('/')
    if (wanted.length !== parts.length) continue
    const params: Record<string, string> = {}
    const fits = wanted.every((want, i) => {
      if (!want.startsWith(':')) return want === parts[i]
      try {
        params[want.slice(1)] = decodeURIComponent(parts[i] ?? '')
      } catch {
        return false // invalid percent-encoding
      }
      return parts[i] !== ''
    })
    if (fits) return { route, params }
  }
  return { route: undefined, params: {} }
}

function read(): Place {
  const path = inner(location.pathname) ?? '/'
  return { path, query: new URLSearchParams(location.search), ...match(path) }
}

let place = $state.raw(read())

/** at is the current location of the page. */
export const at = {
  get route(): Route | undefined {
    return place.route
  },
  get path(): string {
    return place.path
  },
  get params(): Record<string, string> {
    return place.params
  },
  get query(): URLSearchParams {
    return place.query
  },
}

/** navigate goes to a path of the page, with its query. */
export function navigate(path: string, { replace = false } = {}): void {
  const before = place.path
  if (replace) history.replaceState(null, '', href(path))
  else history.pushState(null, '', href(path))
  place = read()
  if (!replace && place.path !== before) scrollTo(0, 0)
}

/** setQuery replaces the query of the current location without a new entry in the history. Empty values are left out. */
export function setQuery(values: Record<string, string>): void {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''))
  const text = query.toString()
  if (text !== place.query.toString()) navigate(place.path + (text ? `?${text}` : ''), { replace: true })
}

/** startRouter follows the browser's history and handles clicks on links of the page. It returns a function that stops it. */
export function startRouter(): () => void {
  const moved = (): void => {
    place = read()
  }
  const clicked = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || link.target || link.download || link.origin !== location.origin) return
    const path = inner(link.pathname)
    if (path === null || path.startsWith('/api/') || !match(path).route) return
    event.preventDefault()
    navigate(path + link.search)
  }
  addEventListener('popstate', moved)
  addEventListener('click', clicked)
  return () => {
    removeEventListener('popstate', moved)
    removeEventListener('click', clicked)
  }
}
