// The page's side of a console: it requests tickets, passes them to the document that shows the console, and reconnects.
import { asProblem, Problem } from '../../api/problem'
import type { ErrorId } from '../../api/operations'
import type { Event, Kind, Order } from '../../console/messages'
import { spoken } from '../../words/spoken.svelte'
import { t } from '../../words/words'
import { ticketFor, type Thing } from './ticket'

/** The delays before each further attempt after a lost connection, in seconds. After them, the user has to reconnect. */
const pauses = [1, 2, 4, 8, 15, 30, 30, 30]

/** The statuses in close codes for which the page has a sentence. */
const codes: Record<number, ErrorId> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  408: 'timeout',
  409: 'invalid_state',
  500: 'internal',
  501: 'unsupported',
  502: 'hypervisor_error',
  503: 'stopping',
  504: 'timeout',
}

type State = 'loading' | 'connecting' | 'open' | 'lost' | 'ended' | 'refused'

/** Connection is one console. Its texts come from the document and the service, and are shown only as text. */
export class Connection {
  state: State = $state('loading')
  kind: Kind | '' = $state('')
  problem: Problem | undefined = $state.raw()
  /** The service's message about the recording; empty if there is none. */
  recorded = $state('')
  size = $state({ columns: 80, rows: 24 })
  /** Seconds until the next attempt. */
  again = $state(0)
  /** How much of a text has been typed, from 0 to 1. */
  typed = $state(1)
  /** Pasted text that the user must review first. */
  pasted: string | undefined = $state()

  private tries = 0
  private timer: ReturnType<typeof setInterval> | undefined
  private frame: HTMLIFrameElement | undefined
  private turn = 0
  private wanted: Kind | ''

  constructor(
    private readonly thing: Thing,
    /** The name of the console, its font size in pixels, and the preferred kind. */
    private readonly looks: { label: () => string; font: () => number; kind: Kind | '' },
    private readonly on: { release: () => void; selection: (text: string) => void },
  ) {
    this.wanted = looks.kind
  }

  /** follow shows the console in a frame until the returned function is called. */
  follow(frame: HTMLIFrameElement): () => void {
    this.frame = frame
    const heard = ({ data, source, origin }: MessageEvent<Event>): void => {
      if (source === frame.contentWindow && origin === location.origin) this.take(data)
    }
    addEventListener('message', heard)
    return () => {
      removeEventListener('message', heard)
      clearInterval(this.timer)
      this.turn++
      this.frame = undefined
    }
  }

  send(order: Order): void {
    this.frame?.contentWindow?.postMessage(order, location.origin)
  }

  /** connect requests a ticket for a kind, or for the one that suits the guest. */
  async connect(kind: Kind | '' = this.wanted): Promise<void> {
    clearInterval(this.timer)
    this.wanted = kind
    const mine = ++this.turn
    this.state = 'connecting'
    this.problem = undefined
    try {
      const made = await ticketFor(this.thing, kind, this.size)
      if (mine !== this.turn) return
      this.kind = made.kind
      this.recorded = made.recorded ? t('console.recorded.hint') : ''
      const { path, ticket, password } = made
      const { label, font } = this.looks
      this.send({
        type: 'open',
        ticket: { kind: made.kind, path, ticket, password },
        label: label(),
        font: font(),
        language: spoken.language,
        much: t('console.much'),
      })
    } catch (caught) {
      if (mine !== this.turn) return
      const problem = asProblem(caught)
      // A restarting service is back soon; in all other cases the user decides.
      if (this.tries && ['offline', 'stopping', 'unreadable', 'database_unavailable', 'plugin_unavailable'].includes(problem.id))
        this.retry()
      else this.refuse(problem)
    }
  }

  /** end closes the console for good. */
  end(): void {
    clearInterval(this.timer)
    this.turn++
    this.send({ type: 'close' })
    this.state = 'ended'
  }

  private refuse(problem: Problem): void {
    this.state = 'refused'
    this.problem = problem
  }

  private retry(): void {
    const pause = pauses[this.tries++]
    if (pause === undefined) return this.refuse(new Problem({ id: 'offline', status: 0 }))
    this.state = 'lost'
    this.again = pause
    clearInterval(this.timer)
    this.timer = setInterval(() => {
      if (--this.again <= 0) void this.connect()
    }, 1000)
  }

  private closed(code: number, reason: string): void {
    if (this.state !== 'open' && this.state !== 'connecting') return
    const status = code - 4000
    if (code === 1000) this.state = 'ended'
    else if (code < 4000 || status === 503) this.retry()
    else this.refuse(new Problem({ id: codes[status] ?? 'unreadable', status, detail: reason }))
  }

  private take(event: Event): void {
    switch (event.type) {
      case 'ready':
        this.size = { columns: event.columns, rows: event.rows }
        void this.connect()
        break
      case 'open':
        this.state = 'open'
        this.tries = 0
        this.send({ type: 'focus' })
        break
      case 'closed':
        this.closed(event.code, event.reason)
        break
      case 'recorded':
        this.recorded = event.notice || t('console.recorded.hint')
        break
      case 'size':
        this.size = { columns: event.columns, rows: event.rows }
        break
      case 'paste':
        this.pasted = event.text
        break
      case 'selection':
        this.on.selection(event.text)
        break
      case 'typed':
        this.typed = event.part
        break
      case 'release':
        this.on.release()
    }
  }
}
