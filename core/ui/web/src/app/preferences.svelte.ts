// What a person has chosen for the page. Nothing here is secret: it is all that is kept in localStorage. The service keeps it, too, so that
// it is the same in every browser of theirs.
import { api } from '../api/client'
import { asProblem } from '../api/problem'
import { languageOf, languages, type Language } from '../words/languages'
import { spoken, stored as name } from '../words/spoken.svelte'
import { speak } from '../words/words'
import { merge } from './merge'

export const themes = ['system', 'light', 'dark'] as const
export const densities = ['compact', 'comfortable'] as const

export interface Preferences {
  /** What the page is written in; empty for the first of the browser's languages that there is. */
  language: Language | ''
  theme: (typeof themes)[number]
  density: (typeof densities)[number]
  /** A zone of the IANA database; empty for the browser's own. */
  zone: string
  /** Single keys do something outside of fields (WCAG 2.1.4 wants that they can be switched off). */
  keys: boolean
  /** The size of characters in consoles, in pixels. */
  font: number
  /** Views of lists, by the names that the person gave them; an address is a path of the page with its query. */
  views: { name: string; address: string }[]
}

/** mostViews is how many views are kept; room is how many bytes the service keeps of all. */
export const mostViews = 50
export const room = 8192

const usual: Preferences = { language: '', theme: 'system', density: 'compact', zone: '', keys: true, font: 14, views: [] }

/** understood is what of a stored value is understood; the rest is as usual. */
export function understood(value: unknown): Preferences {
  const read = (value ?? {}) as Partial<Preferences>
  return {
    language: languages.find((v) => v === read.language) ?? usual.language,
    theme: themes.find((v) => v === read.theme) ?? usual.theme,
    density: densities.find((v) => v === read.density) ?? usual.density,
    zone: typeof read.zone === 'string' && isZone(read.zone) ? read.zone : usual.zone,
    keys: typeof read.keys === 'boolean' ? read.keys : usual.keys,
    font: typeof read.font === 'number' && read.font >= 8 && read.font <= 32 ? read.font : usual.font,
    views: Array.isArray(read.views) ? read.views.filter(isView).slice(0, mostViews) : usual.views,
  }
}

function stored(): Preferences {
  try {
    return understood(JSON.parse(localStorage.getItem(name) ?? '{}'))
  } catch {
    return understood({}) // storage is off, or holds what another version wrote
  }
}

/** isView reports whether a value of the storage is a view of this page: an address of elsewhere is none. */
function isView(value: unknown): value is Preferences['views'][number] {
  const { name, address } = (value ?? {}) as Record<string, unknown>
  return typeof name === 'string' && typeof address === 'string' && name.length <= 60 && /^\/(?!\/)[^\\]{0,4000}$/.test(address)
}

/** isZone reports whether the browser knows the zone. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone || undefined })
    return true
  } catch {
    return false
  }
}

export const preferences = $state(stored())

/** zone is the one that times are shown in. */
export const zone = (): string => preferences.zone || Intl.DateTimeFormat().resolvedOptions().timeZone

let fresh: Language | '' | undefined
/** choose takes a language; one that is chosen before the log-in is that of whoever logs in then. */
export function choose(language: Language | ''): void {
  preferences.language = language
  if (!there) fresh = language
}

let before = ''
/** toggleUTC shows times in UTC, or again in the zone that was shown before. */
export function toggleUTC(): void {
  if (zone() === 'UTC') preferences.zone = before
  else [before, preferences.zone] = [preferences.zone, 'UTC']
}

/** size is how many bytes they have at the service. */
export const size = (chosen: Preferences): number => new TextEncoder().encode(JSON.stringify(chosen)).length

/** What the service has, as it was read or written last, and its revision; undefined until it was read. */
let there: { chosen: Preferences; revision: number } | undefined
let who = 0
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * loadPreferences takes over what a person has chosen in other browsers. What this browser has chosen before the service knew of it is kept,
 * and sent; what another person has chosen in it is not. Where the service cannot be asked, what the browser has stays.
 */
export async function loadPreferences(person: number): Promise<void> {
  try {
    const found = await api.get('/api/v1/auth/preferences')
    const before = remembered()
    if (before && before.person !== person)
      Object.assign(preferences, understood({}), fresh === undefined ? {} : { language: fresh })
    const base = before?.person === person ? understood(before.chosen) : understood({})
    const theirs = understood(found.value)
    who = person
    there = { chosen: theirs, revision: found.revision }
    if (found.revision > 0) {
      Object.assign(preferences, merge(base, snapshot(), theirs))
      remember(theirs)
    }
  } catch {
    return
  }
  keepPreferences()
}

const snapshot = (): Preferences => $state.snapshot(preferences)

/** keepPreferences sends what was changed, when nothing was changed for a moment. It is called in an effect. */
export function keepPreferences(): void {
  const now = JSON.stringify(preferences)
  clearTimeout(timer)
  if (!there || now === JSON.stringify(there.chosen)) return
  timer = setTimeout(() => void send(), 600)
}

async function send(): Promise<void> {
  const chosen = snapshot()
  if (!there || size(chosen) > room) return
  try {
    const { revision } = await api.put('/api/v1/auth/preferences', {
      body: { value: { ...chosen }, revision: there.revision },
    })
    there = { chosen, revision }
    remember(chosen)
  } catch (caught) {
    // Another browser has changed them meanwhile: both changes hold.
    if (asProblem(caught).id === 'invalid_state') await loadPreferences(who)
  }
}

/** What the service had when this browser spoke to it last, and for whom: what differs from it was chosen here since then. */
const agreed = 'hostler.preferences.agreed'
function remembered(): { person: number; chosen: unknown } | undefined {
  try {
    return (JSON.parse(localStorage.getItem(agreed) ?? 'null') as { person: number; chosen: unknown } | null) ?? undefined
  } catch {
    return undefined
  }
}
function remember(chosen: Preferences): void {
  try {
    localStorage.setItem(agreed, JSON.stringify({ person: who, chosen }))
  } catch {
    // What this browser has is taken for its person's choice the next time.
  }
}

/** applyPreferences keeps the document and the storage as the preferences are. It is called once, in an effect. */
export function applyPreferences(): void {
  const root = document.documentElement
  root.dataset.theme = preferences.theme
  root.dataset.density = preferences.density
  root.lang = spoken.language
  // Where its words cannot be loaded, the page stays in the one that it is in.
  speak(languageOf(preferences.language)).catch(() => undefined)
  try {
    localStorage.setItem(name, JSON.stringify(preferences))
  } catch {
    // They hold until the page is left.
  }
}
