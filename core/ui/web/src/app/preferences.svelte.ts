// The user's preferences for the page. They contain no secrets, and are the only thing that is kept in localStorage. The service stores
// them too, so that they are the same in all browsers of the user.
import { api } from '../api/client'
import { asProblem } from '../api/problem'
import { languageOf, languages, type Language } from '../words/languages'
import { spoken, stored as name } from '../words/spoken.svelte'
import { speak } from '../words/words'
import { merge } from './merge'

export const themes = ['system', 'light', 'dark'] as const
export const densities = ['compact', 'comfortable'] as const

export interface Preferences {
  /** The language of the page; empty for the first language of the browser that the page supports. */
  language: Language | ''
  theme: (typeof themes)[number]
  density: (typeof densities)[number]
  /** A zone of the IANA database; empty for the browser's own zone. */
  zone: string
  /** Single keys work outside of fields. WCAG 2.1.4 requires that users can turn them off. */
  keys: boolean
  /** The font size of consoles, in pixels. */
  font: number
  /** Saved views of lists, by the names that the user gave them. The address is a path of the page with its query. */
  views: { name: string; address: string }[]
  /** The address of an enrolment that is not finished; empty if there is none. It contains no tokens. */
  enrolment: string
}

/** mostViews is the maximum number of views; room is how many bytes the service stores in total. */
export const mostViews = 50
export const room = 8192

const usual: Preferences = {
  language: '',
  theme: 'system',
  density: 'compact',
  zone: '',
  keys: true,
  font: 14,
  views: [],
  enrolment: '',
}

/** understood returns the valid part of a stored value; the rest gets its default. */
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
    enrolment: isAddress(read.enrolment) ? read.enrolment : usual.enrolment,
  }
}

function stored(): Preferences {
  try {
    return understood(JSON.parse(localStorage.getItem(name) ?? '{}'))
  } catch {
    return understood({}) // storage is off, or contains a value of another version
  }
}

/** isAddress reports whether a stored value is an address in this page. Addresses of other sites are not. */
const isAddress = (value: unknown): value is string => typeof value === 'string' && /^\/(?!\/)[^\\]{0,4000}$/.test(value)

/** isView reports whether a stored value is a view of this page. */
function isView(value: unknown): value is Preferences['views'][number] {
  const { name, address } = (value ?? {}) as Record<string, unknown>
  return typeof name === 'string' && name.length <= 60 && isAddress(address)
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

/** zone returns the zone in which times are shown. */
export const zone = (): string => preferences.zone || Intl.DateTimeFormat().resolvedOptions().timeZone

let fresh: Language | '' | undefined
/** choose sets the language. A language that is chosen before the login belongs to whoever logs in next. */
export function choose(language: Language | ''): void {
  preferences.language = language
  if (!there) fresh = language
}

let before = ''
/** toggleUTC switches between UTC and the zone that was shown before. */
export function toggleUTC(): void {
  if (zone() === 'UTC') preferences.zone = before
  else [before, preferences.zone] = [preferences.zone, 'UTC']
}

/** size returns how many bytes the preferences need at the service. */
export const size = (chosen: Preferences): number => new TextEncoder().encode(JSON.stringify(chosen)).length

/** The preferences at the service as last read or written, and their revision; undefined until they are read. */
let there: { chosen: Preferences; revision: number } | undefined
let who = 0
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * loadPreferences loads the preferences that the user chose in other browsers. Preferences that this browser had before the service knew
 * any are kept and sent. Those of another user of this browser are not. If the service cannot be reached, the browser's preferences stay.
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

/** keepPreferences sends changes after a short pause. It is called in an effect. */
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
    // Another browser has changed them in the meantime: keep both changes.
    if (asProblem(caught).id === 'invalid_state') await loadPreferences(who)
  }
}

/** The service's preferences when this browser last contacted it, and their user. Differences from it were chosen here since then. */
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
    // Next time, the browser's preferences count as a choice of its user.
  }
}

/** applyPreferences applies the preferences to the document and stores them. It is called once, in an effect. */
export function applyPreferences(): void {
  const root = document.documentElement
  root.dataset.theme = preferences.theme
  root.dataset.density = preferences.density
  root.lang = spoken.language
  // If the words cannot be loaded, the page keeps its current language.
  speak(languageOf(preferences.language)).catch(() => undefined)
  try {
    localStorage.setItem(name, JSON.stringify(preferences))
  } catch {
    // They apply until the page is left.
  }
}
