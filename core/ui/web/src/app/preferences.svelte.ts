// What a person has chosen for this browser. Nothing here is secret: it is all that is kept in localStorage.
export const themes = ['system', 'light', 'dark'] as const
export const densities = ['compact', 'comfortable'] as const

interface Preferences {
  theme: (typeof themes)[number]
  density: (typeof densities)[number]
  /** A zone of the IANA database; empty for the browser's own. */
  zone: string
  /** Single keys do something outside of fields (WCAG 2.1.4 wants that they can be switched off). */
  keys: boolean
}

const name = 'hostler.preferences'
const usual: Preferences = { theme: 'system', density: 'compact', zone: '', keys: true }

function stored(): Preferences {
  try {
    const read = JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<Preferences>
    return {
      theme: themes.find((v) => v === read.theme) ?? usual.theme,
      density: densities.find((v) => v === read.density) ?? usual.density,
      zone: typeof read.zone === 'string' && isZone(read.zone) ? read.zone : usual.zone,
      keys: typeof read.keys === 'boolean' ? read.keys : usual.keys,
    }
  } catch {
    return { ...usual } // storage is off, or holds what another version wrote
  }
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

let before = ''
/** toggleUTC shows times in UTC, or again in the zone that was shown before. */
export function toggleUTC(): void {
  if (zone() === 'UTC') preferences.zone = before
  else [before, preferences.zone] = [preferences.zone, 'UTC']
}

/** applyPreferences keeps the document and the storage as the preferences are. It is called once, in an effect. */
export function applyPreferences(): void {
  const root = document.documentElement
  root.dataset.theme = preferences.theme
  root.dataset.density = preferences.density
  try {
    localStorage.setItem(name, JSON.stringify(preferences))
  } catch {
    // They hold until the page is left.
  }
}
