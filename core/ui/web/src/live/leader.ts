// Elects the tab that does what only one of them needs to do. In a secure context, a lock decides. Otherwise, as over plain HTTP, the tabs
// agree by messages.

/** Told is called when this tab becomes the leader, and when it stops being it. */
interface Told {
  lead: () => void
  follow: () => void
}

/** Election is a tab's part in it. */
export interface Election {
  /** Take the lead from a tab that no longer answers: browsers freeze tabs, and a frozen tab keeps its lock. */
  challenge: () => void
}

/** elect takes part in the election of that name until the page is closed. */
export const elect = (name: string, told: Told): Election =>
  'locks' in navigator ? byLock(name, told) : byClaim(new BroadcastChannel(`${name}.leader`), told)

function byLock(name: string, { lead, follow }: Told): Election {
  const queue = (options: LockOptions): void => {
    // The lock is held until the tab closes or the lock is taken away. Then the request fails, and this tab waits like the others.
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

/** How long a leader has to answer, and by how much the waiting times of tabs differ, in milliseconds. */
const answer = 300
const spread = 200

type Message = { type: 'who?' } | { type: 'left' } | { type: 'claim'; id: number }

/** byClaim: a tab that hears no leader claims the lead. If two claim it, the lower number wins. */
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
