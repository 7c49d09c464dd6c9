// What changes, as it changes. One stream serves all tabs: the tab that holds the lock has it and passes events on, for over plain HTTP a
// browser has six connections to a server, and a tab must not cost one.
import { address, api } from '../api/client'

/** Change is one object's change; figures are the rows of a cluster. */
export interface Change {
  kind: string
  id: number
  set?: Record<string, unknown>
  whole?: boolean
  gone?: boolean
  at?: string | null
  guest_columns?: string[]
  guests?: (number | null)[][]
}

interface Listener {
  /** Changes of one turn, in their order. */
  changes: (changes: Change[]) => void
  /** What is shown may be old: load it anew. */
  reset: () => void
}

type Message =
  | { type: 'changes'; changes: Change[]; last: string }
  | { type: 'reset' }
  | { type: 'state'; live: boolean; since: number; version: string }
  | { type: 'state?' }

const topics = 'guest,job'
const lock = 'hostler.feed'
/** How long to wait before a stream that was refused is asked for again, in milliseconds. */
const pause = 5000

/** feed tells whether what is shown is live, since when it is so or not, and the version of the service. */
export const feed = $state({ live: false, since: Date.now(), version: '' })

const listeners = new Set<Listener>()
let channel: BroadcastChannel | undefined
let last = ''
let leading = false

/** listen takes part in what is told, until what it returns is called. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** startFeed joins the stream of this browser, or opens it. It is called once, when somebody has logged in. */
export function startFeed(): void {
  if (channel) return
  channel = new BroadcastChannel(lock)
  channel.onmessage = ({ data }: MessageEvent<Message>) => take(data)
  channel.postMessage({ type: 'state?' } satisfies Message)
  // Only a secure context has locks: elsewhere each tab has a stream of its own.
  if (!('locks' in navigator)) lead()
  else void navigator.locks.request(lock, () => new Promise<void>(lead))
}

function tell(message: Message): void {
  channel?.postMessage(message)
  take(message)
}

function take(message: Message): void {
  switch (message.type) {
    case 'changes':
      last = message.last
      gather(message.changes)
      break
    case 'reset':
      for (const { reset } of listeners) reset()
      break
    case 'state':
      Object.assign(feed, { live: message.live, since: message.since, version: message.version })
      break
    case 'state?':
      if (leading)
        channel?.postMessage({ type: 'state', live: feed.live, since: feed.since, version: feed.version } satisfies Message)
  }
}

function state(live: boolean, version = feed.version): void {
  if (feed.live !== live || feed.version !== version) tell({ type: 'state', live, since: Date.now(), version })
}

/** lead opens the stream and keeps it open. */
function lead(): void {
  leading = true
  const source = new EventSource(address('/api/v1/events/stream', { query: { topics, figures: true, after: last } }))
  source.addEventListener('hello', ({ data }: MessageEvent<string>) => {
    clearTimeout(breaking)
    state(true, (JSON.parse(data) as { version: string }).version)
  })
  source.addEventListener('changes', ({ data, lastEventId }: MessageEvent<string>) => {
    tell({ type: 'changes', changes: (JSON.parse(data) as { changes: Change[] }).changes, last: lastEventId })
  })
  source.addEventListener('reset', () => tell({ type: 'reset' }))
  source.onerror = () => {
    // Each stream ends after half an hour and is back at once: that is no break.
    clearTimeout(breaking)
    breaking = setTimeout(() => state(false), pause)
    if (source.readyState !== EventSource.CLOSED) return
    // It was refused, and does not come back by itself. A session that has ended is told of by any request.
    setTimeout(() => void api.get('/api/v1/auth/me').then(lead, lead), pause)
  }
}

let breaking: ReturnType<typeof setTimeout> | undefined

let gathered: Change[] = []
/** gather applies what has come once per frame; while the tab is hidden, once a second. */
function gather(changes: Change[]): void {
  gathered.push(...changes)
  if (gathered.length > changes.length) return
  const apply = (): void => {
    const all = gathered
    gathered = []
    for (const listener of listeners) listener.changes(all)
  }
  if (document.hidden) setTimeout(apply, 1000)
  else requestAnimationFrame(apply)
}
