// The document of the console: what a guest prints or paints is shown here, and shares no document with the page, which has all buttons and
// words. It connects with a ticket that the page gives it.
import { dress } from './dress'
import own from './console.css?inline'
import type { Event, Order } from './messages'
import { languageOf, type Language } from '../words/languages'
import type { Player } from './player'

/** Told is how a console tells the page something. */
export type Told = (event: Event) => void

/** Screen is what shows a console of either kind. */
export interface Screen {
  size: () => { columns: number; rows: number }
  /** Take what comes through a socket that is being opened. */
  attach: (socket: WebSocket) => void
  write: (text: string) => void
  press: (keys: string) => void
  font: (size: number) => void
  reader: (on: boolean) => void
  focus: () => void
  selection: () => string
  /** Fit into the room that there is. */
  settle: () => void
  end: () => void
}

dress(own)
const place = document.getElementById('console')!
let screen: Screen | undefined
let playing: Player | undefined
let kind = ''
let socket: WebSocket | undefined

const tell: Told = (event) => parent.postMessage(event, location.origin)

async function open({ ticket, label, font, language, much }: Extract<Order, { type: 'open' }>): Promise<void> {
  socket?.close()
  // A terminal keeps what it shows when it was only cut off.
  if (kind !== ticket.kind || kind === 'graphical') {
    screen?.end()
    screen = undefined
  }
  kind = ticket.kind
  document.documentElement.lang = language
  document.title = label
  // All keys are the guest's.
  place.role = 'application'
  place.ariaLabel = label
  const address = new URL(ticket.path, location.href)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  address.searchParams.set('ticket', ticket.ticket)
  const make = async (): Promise<Screen> =>
    ticket.kind === 'terminal'
      ? (await import('./terminal')).terminal(place, { label, font, much }, tell)
      : (await import('./graphical')).graphical(place, { password: ticket.password ?? '' }, tell)
  screen ??= await make()
  socket = new WebSocket(address)
  screen.attach(socket)
}

async function take(order: Order): Promise<void> {
  switch (order.type) {
    case 'open':
      return open(order)
    case 'close':
      return socket?.close(1000)
    case 'write':
      return screen?.write(order.text)
    case 'press':
      return screen?.press(order.keys)
    case 'font':
      return screen?.font(order.size)
    case 'reader':
      return screen?.reader(order.on)
    case 'focus':
      return screen?.focus()
    case 'play':
      playing?.end()
      playing = (await import('./player')).player(place, order, tell)
      return
    case 'pace':
      return playing?.pace(order)
    case 'seek':
      return playing?.seek(order.at)
    case 'find':
      return playing?.find(order.text)
    case 'copy':
      return tell({ type: 'selection', text: screen?.selection() ?? '' })
  }
}

// The order of orders is kept, though some wait for what is loaded.
let before: Promise<void> = Promise.resolve()
addEventListener('message', ({ data, source, origin }: MessageEvent<Order>) => {
  if (source !== parent || origin !== location.origin) return
  before = before.then(() => take(data)).catch((caught: unknown) => tell({ type: 'closed', code: 1006, reason: String(caught) }))
})

// Before the console sees a key: this one is the page's.
addEventListener(
  'keydown',
  (event) => {
    if (event.key !== 'F10' || !event.ctrlKey || !event.shiftKey) return
    event.preventDefault()
    event.stopImmediatePropagation()
    tell({ type: 'release' })
  },
  { capture: true },
)

// What has lines would be carried out line by line: the page shows it first.
addEventListener(
  'paste',
  (event) => {
    event.preventDefault()
    event.stopImmediatePropagation()
    const text = event.clipboardData?.getData('text/plain') ?? ''
    if (/[\r\n]/.test(text) || text.length > 1000) tell({ type: 'paste', text })
    else if (text) screen?.write(text)
  },
  { capture: true },
)

new ResizeObserver(() => screen?.settle()).observe(place)

/** What this document says by itself, where no page shows it. */
const alone: Record<Language, string> = {
  en: 'The page of Hostler shows consoles in here.',
  de: 'Hier zeigt die Seite von Hostler Konsolen.',
}

/** How large a character is before a terminal has measured it, in pixels. */
const character = { width: 8.4, height: 17 }
if (parent !== window) {
  tell({
    type: 'ready',
    columns: Math.max(20, Math.min(1000, Math.floor(place.clientWidth / character.width))),
    rows: Math.max(5, Math.min(1000, Math.floor(place.clientHeight / character.height))),
  })
} else {
  const language = (document.documentElement.lang = languageOf(''))
  place.textContent = alone[language]
}
