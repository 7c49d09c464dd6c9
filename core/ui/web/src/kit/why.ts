// Why a control cannot be used now. The control stays in place and focusable, and shows the reason on hover, focus or tap.
import type { Attachment } from 'svelte/attachments'
import { href } from '../app/base'
import { leads, type Link } from './leads'

/** Reason is a sentence, optionally with a way to change it. */
export interface Reason {
  text: string
  link?: Link | undefined
}

export type Why = string | Reason | undefined

/** How long the pointer has to reach the reason, in milliseconds. */
const patience = 300

let shown: HTMLElement | undefined
let leaving: ReturnType<typeof setTimeout> | undefined

function hide(): void {
  clearTimeout(leaving)
  shown?.remove()
  shown = undefined
}

/** leave hides the reason, unless the focus is still on the control or the link. */
function leave(control: HTMLElement): void {
  clearTimeout(leaving)
  leaving = setTimeout(() => {
    const focused = document.activeElement
    if (!shown?.contains(focused) && !(control === focused && control.matches(':focus-visible'))) hide()
  }, patience)
}

/** show inserts the reason after its control, so that the next tab stop is its link. */
function show(control: HTMLElement, { text, link }: Reason): void {
  hide()
  // Do not repeat a text that is already next to the control.
  if (!link && control.parentElement?.innerText.includes(text)) return
  const box = document.createElement('div')
  box.className = 'why-not'
  box.popover = 'manual'
  box.append(text)
  if (link) {
    const to = document.createElement('a')
    to.href = href(link.path)
    to.textContent = link.text
    to.addEventListener('click', () => setTimeout(hide))
    to.addEventListener('blur', () => leave(control))
    box.append(' ', to)
  }
  box.addEventListener('pointerenter', () => clearTimeout(leaving))
  box.addEventListener('pointerleave', () => leave(control))
  control.after(box)
  box.showPopover()
  const from = control.getBoundingClientRect()
  const below = from.bottom + 4
  const top = below + box.offsetHeight > innerHeight ? from.top - box.offsetHeight - 4 : below
  box.style.top = `${Math.max(8, top)}px`
  box.style.left = `${Math.max(8, Math.min(from.left, innerWidth - box.offsetWidth - 8))}px`
  shown = box
}

if (typeof document !== 'undefined')
  addEventListener('pointerdown', ({ target }) => target instanceof Node && shown?.contains(target) !== true && hide(), true)

/** typed reports whether an element accepts text. */
const typed = (control: HTMLElement): control is HTMLInputElement | HTMLTextAreaElement =>
  control instanceof HTMLTextAreaElement ||
  (control instanceof HTMLInputElement && !['checkbox', 'radio', 'file'].includes(control.type))

/** Keys that do not change a value. */
const free = new Set(['Tab', 'Escape', 'Shift', 'Control', 'Alt', 'Meta'])

/**
 * because disables a control for a reason: none of its actions happen. Without a reason the control works normally. A control is a button,
 * a checkbox, a choice or a field.
 */
export function because(why: Why): Attachment<HTMLElement> {
  return (control) => {
    if (!why) return undefined
    const reason: Reason =
      typeof why === 'string' ? { text: why, link: leads.get(why) } : { ...why, link: why.link ?? leads.get(why.text) }
    const before = control.ariaDisabled // it may be busy, or wait for a form
    control.ariaDisabled = 'true'
    control.setAttribute('aria-description', reason.text)
    if (typed(control)) control.readOnly = true

    const tell = (): void => show(control, reason)
    const refuse = (event: Event): void => {
      event.preventDefault()
      event.stopImmediatePropagation()
      tell()
    }
    const choice = control instanceof HTMLSelectElement
    const handlers: Record<string, (event: never) => void> = {
      click: refuse,
      mousedown: (event: Event) => {
        if (!choice) return
        control.focus()
        refuse(event)
      },
      keydown: (event: KeyboardEvent) => {
        if (event.key === 'Escape' && shown) {
          event.preventDefault() // it must not close a dialog
          event.stopPropagation()
          hide()
        } else if (choice && !free.has(event.key)) refuse(event)
      },
      pointerenter: tell,
      // After a tap, the finger is gone at once.
      pointerleave: (event: PointerEvent) => event.pointerType !== 'touch' && leave(control),
      focus: tell,
      blur: () => leave(control),
    }
    const all = Object.entries(handlers) as [string, EventListener][]
    for (const [name, handler] of all) control.addEventListener(name, handler, true)
    return () => {
      for (const [name, handler] of all) control.removeEventListener(name, handler, true)
      control.ariaDisabled = before
      control.removeAttribute('aria-description')
      if (typed(control)) control.readOnly = false
      if (shown?.previousElementSibling === control) hide()
    }
  }
}
