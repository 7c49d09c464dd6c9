// Which tab of a browser does what only one of them needs to. Where the page has a secure context, a lock tells; elsewhere, as over plain
// HTTP, the tabs agree among themselves.

/** Told is called when this tab becomes the leader, and when it is no more. */
interface Told {
  lead: () => void
  follow: () => void
}

/** Election is a tab's part in it. */
export interface Election {
  /** Take the lead from a tab that does not answer any more: a browser freezes tabs, and a frozen one keeps its lock. */
  challenge: () => void
}

/** elect takes part in the election of that name, for as long as the page is there. */
export const elect = (name: string, told: Told): Election =>
  'locks' in navigator ? byLock(name, told) : byClaim(new BroadcastChannel(`${name}.leader`), told)

function byLock(name: string, { lead, follow }: Told): Election {
  const queue = (options: LockOptions): void => {
    // It is held until the tab goes, or until it is taken away: then the request fails, and this tab waits like others.
    navigator.locks
      .request(name, options, () => new Promise<void>(lead))
      .catch(() => {
        follow()
        queue({})
      })
  }
  queue({})
  return { challenge: () => queue({ steal: true }) }
}

/** How long a leader has to answer, and by how much tabs differ in waiting for it, in milliseconds. */
const answer = 300
const spread = 200

type Message = { type: 'who?' } | { type: 'left' } | { type: 'claim'; id: number }

/** byClaim: who hears no leader claims the lead, and of two that claim it the lower number has it. */
export function byClaim(channel: BroadcastChannel, { lead, follow }: Told): Election {
  const id = Math.random()
  let leading = false
  let waiting: ReturnType<typeof setTimeout> | undefined
  const post = (message: Message): void => channel.postMessage(message)
  const claim = (): void => {
    clearTimeout(waiting)
    if (!leading) lead()
    leading = true
    post({ type: 'claim', id })
  }
  const yieldIt = (): void => {
    if (leading) follow()
    leading = false
  }
  const wait = (least: number): void => {
    clearTimeout(waiting)
    waiting = setTimeout(claim, least + Math.random() * spread)
  }
  const join = (): void => {
    post({ type: 'who?' })
    wait(answer)
  }
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === 'who?' && leading) post({ type: 'claim', id })
    if (data.type === 'left') wait(0)
    if (data.type !== 'claim') return
    clearTimeout(waiting)
    if (leading && data.id > id) post({ type: 'claim', id })
    else yieldIt()
  }
  addEventListener('pagehide', () => {
    clearTimeout(waiting)
    if (leading) post({ type: 'left' })
    yieldIt()
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) join()
  })
  join()
  return { challenge: claim }
}
