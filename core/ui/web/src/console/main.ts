// The document of the console. It shows the output of a guest, and is separate from the document of the page, which has all buttons and
// texts. It connects with a ticket that it gets from the page.
import { dress } from './dress'
import own from './console.css?inline'
import type { Event, Order } from './messages'
import { languageOf, type Language } from '../words/languages'
import type { Player } from './player'

/** Told sends an event from a console to the page. */
export type Told = (event: Event) => void

/** Screen shows a console of either kind. */
export interface Screen {
  size: () => { columns: number; rows: number }
  /** Use a socket that is being opened. */
  attach: (socket: WebSocket) => void
  write: (text: string) => void
  press: (keys: string) => void
  font: (size: number) => void
  reader: (on: boolean) => void
  focus: () => void
  selection: () => string
  /** Fit into the available space. */
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
  // After a lost connection, a terminal keeps its content.
  if (kind !== ticket.kind || kind === 'graphical') {
    screen?.end()
    screen = undefined
  }
  kind = ticket.kind
  document.documentElement.lang = language
  document.title = label
  // All keys belong to the guest.
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

// Orders run in sequence, although some wait for code to load.
let before: Promise<void> = Promise.resolve()
addEventListener('message', ({ data, source, origin }: MessageEvent<Order>) => {
  if (source !== parent || origin !== location.origin) return
  before = before.then(() => take(data)).catch((caught: unknown) => tell({ type: 'closed', code: 1006, reason: String(caught) }))
})

// Before the console handles a key: this one belongs to the page.
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

// Text with line breaks would run line by line, so the page shows it first.
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

/** The texts that this document shows if it is not inside the page. */
const alone: Record<Language, string> = {
  en: 'The page of Hostler shows consoles in here.',
  de: 'Hier zeigt die Seite von Hostler Konsolen.',
}

/** The assumed width and height of a character before a terminal has measured it, in pixels. */
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
