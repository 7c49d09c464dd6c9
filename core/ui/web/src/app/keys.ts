// What keys do. Single keys act only outside of fields, and can be switched off.
import { preferences } from './preferences.svelte'

export type Keys = Record<string, () => void>

/** name spells a key with what is held: Ctrl K, Shift Z, j, Escape. */
function name(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? (event.ctrlKey || event.metaKey ? event.key.toUpperCase() : event.key) : event.key
  if (event.ctrlKey || event.metaKey) return `Ctrl ${key}`
  return /^[A-Z]$/.test(key) ? `Shift ${key}` : key
}

/** writing reports whether keys go into a field. */
export function writing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

let first = ''
let firstAt = 0
/** How long the second key of two may take, in milliseconds. */
const pause = 1500

/** pressed runs what the key does among these: "Ctrl K", "g o" for one after the other, "?" . */
export function pressed(event: KeyboardEvent, keys: Keys): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return
  const key = name(event)
  const single = !key.startsWith('Ctrl ')
  if (single && (!preferences.keys || writing(event.target))) return
  if (single && document.querySelector('dialog[open]')) return
  // A menu that is open is closed by the browser.
  if (key === 'Escape' && document.querySelector('[role=menu]:popover-open')) return
  const both = `${first} ${key}`
  const act = (first && performance.now() - firstAt < pause && keys[both]) || keys[key]
  ;[first, firstAt] = act ? ['', 0] : [key, performance.now()]
  if (!act) return
  event.preventDefault()
  act()
}
