// Keyboard shortcuts. Single keys work only outside of fields, and can be turned off.
import { preferences } from './preferences.svelte'

export type Keys = Record<string, () => void>

/** name returns the name of a key with its modifiers: Ctrl K, Shift Z, j, Escape. */
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
/** The maximum time between the two keys of a sequence, in milliseconds. */
const pause = 1500

/** pressed runs the action of a key: "Ctrl K", "g o" for a sequence, "?". */
export function pressed(event: KeyboardEvent, keys: Keys): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return
  const key = name(event)
  const single = !key.startsWith('Ctrl ')
  if (single && (!preferences.keys || writing(event.target))) return
  if (single && document.querySelector('dialog[open]')) return
  // The browser closes an open menu.
  if (key === 'Escape' && document.querySelector('[role=menu]:popover-open')) return
  const both = `${first} ${key}`
  const act = (first && performance.now() - firstAt < pause && keys[both]) || keys[key]
  ;[first, firstAt] = act ? ['', 0] : [key, performance.now()]
  if (!act) return
  event.preventDefault()
  act()
}
