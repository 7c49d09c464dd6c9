// Live changes. One stream serves all tabs, because a browser opens only six connections to a server over plain HTTP. The tab that holds
// the lock reads the stream and passes the events on.
import { address, api } from '../api/client'
import { elect, type Election } from './leader'

/** The topics of the stream. Only these can be listened for. */
const topics = ['guest', 'host', 'node', 'job', 'alert'] as const

/** Change is one object's change; figures are the rows of a cluster. */
export interface Change {
  kind: (typeof topics)[number] | 'figures'
  id: number
  set?: Record<string, unknown>
  whole?: boolean
  gone?: boolean
  at?: string | null
  guest_columns?: string[]
  guests?: (number | null)[][]
}

interface Listener {
  /** The changes of one batch, in order. */
  changes: (changes: Change[]) => void
  /** The shown data may be outdated: reload it. */
  reset: () => void
}

/** What all tabs know about the stream. last is the ID of the last event, where the next reader continues. */
interface State {
  live: boolean
  since: number
  version: string
  interval: number
  last: string
}

type Message =
  | { type: 'changes'; changes: Change[]; last: string }
  | { type: 'reset'; last: string }
  | ({ type: 'state' } & State)
  | { type: 'state?' }

const name = 'hostler.feed'
/** Delay before a refused stream is requested again, in milliseconds. */
const pause = 5000
/** After this many milliseconds without news, a visible tab checks whether the tab with the stream still works. */
const quiet = 20_000
/** How long that tab has to answer. A tab in the background answers, a frozen one does not. */
const patience = 4000

/**
 * feed is the state of the stream: whether the shown data is live and since when, the version of the service, and the polling interval in
 * seconds.
 */
export const feed = $state({ live: false, since: Date.now(), version: '', interval: 30 })

const listeners = new Set<Listener>()
let channel: BroadcastChannel | undefined
let last = ''
let source: EventSource | undefined
let election: Election | undefined
let heard = Date.now()

/** listen subscribes to changes until the returned function is called. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** startFeed joins this browser's stream, or opens it. It is called once after the login. */
export function startFeed(): void {
  if (channel) return
  channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<Message>) => take(data)
  channel.postMessage({ type: 'state?' } satisfies Message)
  election = elect(name, { lead, follow })
  setInterval(() => void doubt(), patience)
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return
    apply()
    void doubt()
  })
}

let doubting = false
/** doubt checks whether the tab with the stream still works, if there was no news for long. */
async function doubt(): Promise<void> {
  if (source || doubting || document.hidden || Date.now() - heard < quiet) return
  doubting = true
  const asked = Date.now()
  channel?.postMessage({ type: 'state?' } satisfies Message)
  await new Promise((go) => setTimeout(go, patience))
  if (!source && !document.hidden && heard < asked) election?.challenge()
  doubting = false
}

/** follow gives up the stream because another tab has it. */
function follow(): void {
  unbreak()
  source?.close()
  source = undefined
}

function tell(message: Message): void {
  channel?.postMessage(message)
  take(message)
}

function take(message: Message): void {
  if (message.type === 'state?') {
    if (source) channel?.postMessage({ type: 'state', ...$state.snapshot(feed), last } satisfies Message)
    return
  }
  heard = Date.now()
  if (message.last) last = message.last
  switch (message.type) {
    case 'changes':
      for (const { kind, at } of message.changes)
        if (kind === 'figures' && at) ahead = Math.min(ahead, Date.now() - Date.parse(at))
      gather(message.changes)
      break
    case 'reset':
      gathered.clear()
      for (const { reset } of listeners) reset()
      break
    case 'state': {
      const { live, since, version, interval } = message
      Object.assign(feed, { live, since, version, interval })
    }
  }
}

function state(live: boolean, { version = feed.version, poll_interval_s: interval = feed.interval } = {}, id = ''): void {
  unbreak()
  const same = feed.live === live && feed.version === version && feed.interval === interval
  if (!same) tell({ type: 'state', live, since: Date.now(), version, interval, last: id })
  else if (id) last = id
}

/** lead opens the stream and keeps it open. */
function lead(): void {
  follow()
  const mine = new EventSource(address('/api/v1/events/stream', { query: { topics: topics.join(), figures: true, after: last } }))
  source = mine
  mine.addEventListener('hello', ({ data, lastEventId }: MessageEvent<string>) => {
    state(true, JSON.parse(data) as { version?: string; poll_interval_s?: number }, lastEventId)
  })
  mine.addEventListener('changes', ({ data, lastEventId }: MessageEvent<string>) => {
    tell({ type: 'changes', changes: (JSON.parse(data) as { changes: Change[] }).changes, last: lastEventId })
  })
  mine.addEventListener('reset', ({ lastEventId }: MessageEvent<string>) => {
    state(true)
    tell({ type: 'reset', last: lastEventId })
  })
  mine.onerror = () => {
    // Each stream ends after half an hour and reconnects at once. That is not an interruption.
    breaking ??= setTimeout(() => state(false), pause)
    if (mine.readyState !== EventSource.CLOSED) return
    // The stream was refused and does not reconnect by itself. Any request notices that the session has ended.
    const again = (): void => {
      if (source === mine) lead()
    }
    setTimeout(() => {
      if (source === mine) void api.get('/api/v1/auth/me').then(again, again)
    }, pause)
  }
}

let breaking: ReturnType<typeof setTimeout> | undefined
function unbreak(): void {
  clearTimeout(breaking)
  breaking = undefined
}

/** Changes that have arrived but are not applied yet, by object. Only the last state of each object is kept. */
let gathered = new Map<string, Change>()
let drawn = false

/** gather applies the changes once per frame. While the tab is hidden, it only merges them. */
function gather(changes: Change[]): void {
  for (const change of changes) merge(gathered, change)
  if (drawn || document.hidden) return
  drawn = true
  const draw = (): void => {
    if (drawn) apply()
  }
  requestAnimationFrame(draw)
  // A window that is covered by others gets no frames, but is not hidden.
  setTimeout(draw, 1000)
}

/** merge adds a change. */
export function merge(into: Map<string, Change>, change: Change): void {
  const key = `${change.kind}:${change.id}`
  const before = into.get(key)
  const part = before !== undefined && !before.gone && !change.gone && !change.whole && change.kind !== 'figures'
  into.set(key, part ? { ...before, set: { ...before.set, ...change.set } } : change)
}

function apply(): void {
  drawn = false
  if (gathered.size === 0) return
  const all = [...gathered.values()]
  gathered = new Map()
  for (const listener of listeners) listener.changes(all)
}

/** The maximum difference between this machine's clock and the service's, in milliseconds. */
let ahead = Infinity

/** outdated reports whether figures are older than two polls, by the service's clock. */
export const outdated = (at: string | null | undefined, now: number): boolean =>
  at != null && now - (ahead === Infinity ? 0 : ahead) - Date.parse(at) > (2 * feed.interval + 5) * 1000
