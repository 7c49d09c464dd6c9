// The document of the API reference. RapiDoc writes inline styles and HTML from Markdown, so it gets a document and a policy of its own.
// "Try" sends no cookies: it works with an API key that is typed here and kept in memory only, never with the session of the reader.
import 'rapidoc/dist/rapidoc-min.js'
import { facts, type Operation } from './facts'

interface Viewer extends HTMLElement {
  loadSpec: (document: object) => void
}

/** The service may be below a path of a proxy; this document is at its root. */
const root = new URL('.', location.href)
const methods = ['get', 'put', 'post', 'delete', 'patch']

const dark = matchMedia('(prefers-color-scheme: dark)')
const viewer = document.createElement('rapi-doc') as Viewer
for (const [name, value] of Object.entries({
  'render-style': 'focused',
  'schema-style': 'table',
  'show-header': 'false',
  'show-method-in-nav-bar': 'as-colored-text',
  'allow-server-selection': 'false',
  'allow-spec-url-load': 'false',
  'allow-spec-file-load': 'false',
  'fetch-credentials': 'omit',
  'persist-auth': 'false',
  'load-fonts': 'false',
  'regular-font': "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
  'mono-font': "ui-monospace, 'DejaVu Sans Mono', 'Cascadia Mono', Menlo, Consolas, monospace",
  'server-url': root.href.replace(/\/$/, ''),
})) {
  viewer.setAttribute(name, value)
}

function paint(): void {
  const colours = dark.matches
    ? { theme: 'dark', bg: '#15181d', text: '#e8ebf0', primary: '#8db0ff', nav: '#1d2127', navText: '#e8ebf0' }
    : { theme: 'light', bg: '#ffffff', text: '#1b2028', primary: '#2457c5', nav: '#f5f6f8', navText: '#1b2028' }
  viewer.setAttribute('theme', colours.theme)
  viewer.setAttribute('bg-color', colours.bg)
  viewer.setAttribute('text-color', colours.text)
  viewer.setAttribute('primary-color', colours.primary)
  viewer.setAttribute('nav-bg-color', colours.nav)
  viewer.setAttribute('nav-text-color', colours.navText)
}
paint()
dark.addEventListener('change', paint)
document.body.append(viewer)

try {
  const response = await fetch(new URL('api/openapi.json', root), { credentials: 'omit' })
  if (!response.ok) throw new Error(`the service responded with status ${response.status}`)
  const api = (await response.json()) as { paths: Record<string, Record<string, Operation>>; servers?: unknown }
  for (const path of Object.values(api.paths)) {
    for (const method of methods) {
      const operation = path[method]
      if (operation) operation.description = `${operation.description ?? ''}\n\n${facts(operation)}`
    }
  }
  viewer.loadSpec(api)
} catch (cause) {
  viewer.remove()
  document.body.append(`The OpenAPI document could not be loaded: ${String(cause)}. Reload the page to try again.`)
}
