// What changes, as it changes. One stream serves all tabs: the tab that holds the lock has it and passes events on, for over plain HTTP a
// browser has six connections to a server, and a tab must not cost one.
import { address, api } from '../api/client'
import { elect, type Election } from './leader'

/** What the stream is asked for: nothing can be listened for that is not among it. */
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
  /** Changes of one turn, in their order. */
  changes: (changes: Change[]) => void
  /** What is shown may be old: load it anew. */
  reset: () => void
}

/** What all tabs know of the stream. last is the id of the last event: who opens the stream goes on there. */
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
/** How long to wait before a stream that was refused is asked for again, in milliseconds. */
const pause = 5000
/** How long nothing may be heard before a tab that is looked at asks whether the one with the stream is well, in milliseconds. */
const quiet = 20_000
/** How long that one has for its answer. A tab in the background answers, one that the browser has frozen does not. */
const patience = 4000

/**
 * feed tells whether what is shown is live, since when it is so or not, the version of the service, and how often it polls hosts, in
 * seconds.
 */
export const feed = $state({ live: false, since: Date.now(), version: '', interval: 30 })

const listeners = new Set<Listener>()
let channel: BroadcastChannel | undefined
let last = ''
let source: EventSource | undefined
let election: Election | undefined
let heard = Date.now()

/** listen takes part in what is told, until what it returns is called. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** startFeed joins the stream of this browser, or opens it. It is called once, when somebody has logged in. */
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
/** doubt asks the tab with the stream whether it is well, when nothing was heard for long. */
async function doubt(): Promise<void> {
  if (source || doubting || document.hidden || Date.now() - heard < quiet) return
  doubting = true
  const asked = Date.now()
  channel?.postMessage({ type: 'state?' } satisfies Message)
  await new Promise((go) => setTimeout(go, patience))
  if (!source && !document.hidden && heard < asked) election?.challenge()
  doubting = false
}

/** follow gives up the stream: another tab has it. */
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
    // Each stream ends after half an hour and is back at once: that is no break.
    breaking ??= setTimeout(() => state(false), pause)
    if (mine.readyState !== EventSource.CLOSED) return
    // It was refused, and does not come back by itself. A session that has ended is told of by any request.
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

/** What has come and is not applied yet, by object: of many changes of one the last state is left. */
let gathered = new Map<string, Change>()
let drawn = false

/** gather applies what has come once per frame. While the tab is hidden it only merges. */
function gather(changes: Change[]): void {
  for (const change of changes) merge(gathered, change)
  if (drawn || document.hidden) return
  drawn = true
  const draw = (): void => {
    if (drawn) apply()
  }
  requestAnimationFrame(draw)
  // A window that is covered by others has no frames, and is not hidden.
  setTimeout(draw, 1000)
}

/** merge takes a change in. */
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

/** By how much the clock of this machine is ahead of the service's, at most, in milliseconds. */
let ahead = Infinity

/** outdated reports whether figures are older than two polls, by the service's clock. */
export const outdated = (at: string | null | undefined, now: number): boolean =>
  at != null && now - (ahead === Infinity ? 0 : ahead) - Date.parse(at) > (2 * feed.interval + 5) * 1000
