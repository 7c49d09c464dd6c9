// The uploads of this tab. They continue while the user visits other pages, because no page owns them.
import { sendFile, uploadCommand, type Target } from '../../api/upload'
import { asProblem, type Problem } from '../../api/problem'
import { say } from '../../kit/toasts.svelte'
import type { Job } from '../../live/jobs.svelte'
import { announce } from '../jobs/announce'
import { checksum } from './checksum'

/** How many are sent at once. Over plain HTTP, a browser opens only six connections to a server; the others wait. */
const atOnce = 2
/** The speed is measured over this many milliseconds. */
const recent = 5000

export type State = 'waiting' | 'checking' | 'sending' | 'arrived' | 'failed' | 'canceled'

let last = 0

/** Upload is one file that is being uploaded. */
export class Upload {
  readonly key = ++last
  state: State = $state('waiting')
  /** How many bytes have been read for the checksum, and how many have been sent. */
  read = $state(0)
  sent = $state(0)
  /** Bytes per second; undefined until it can be measured. */
  speed: number | undefined = $state()
  /** The SHA-256 as it was computed here; empty before. */
  sum = $state('')
  /** The service received something else than was sent. */
  differs = $state(false)
  problem: Problem | undefined = $state.raw()
  job: Job | undefined = $state.raw()
  private control = new AbortController()
  private samples: { at: number; sent: number }[] = []

  /** what names the action for other pages, such as "Upload debian.iso". */
  constructor(
    readonly file: File,
    readonly target: Target,
    readonly what: string,
  ) {}

  /** The SHA-256 that the file must have; empty for any. */
  get wanted(): string {
    return this.target.sha256
  }
  /** It is over: nothing of it is running here any more. */
  get over(): boolean {
    return this.state === 'arrived' || this.state === 'failed' || this.state === 'canceled'
  }
  /** The file differs from the expected one and was not sent. */
  get wrong(): boolean {
    return this.state === 'failed' && this.sum !== '' && this.wanted !== '' && this.sum !== this.wanted
  }
  /** Seconds until everything is sent; undefined until it can be estimated. */
  get left(): number | undefined {
    return this.speed ? Math.max(0, this.file.size - this.sent) / this.speed : undefined
  }

  cancel(): void {
    if (this.over) return
    this.state = 'canceled'
    this.control.abort()
  }

  /** go runs the upload. It never throws. */
  async go(): Promise<void> {
    const { signal } = this.control
    try {
      if (this.wanted) {
        this.state = 'checking'
        this.sum = await this.compute(signal)
        if (this.sum !== this.wanted) {
          this.state = 'failed'
          return
        }
      }
      this.state = 'sending'
      const own = this.sum ? Promise.resolve(this.sum) : this.compute(signal)
      own.catch(() => undefined) // it is awaited below, and may fail before
      const command = uploadCommand(this.target, this.file.name, uniqueId())
      const { job, upload } = await sendFile(command, this.file, { signal, progress: (sent, all) => this.move(sent, all) })
      this.sent = this.file.size
      this.job = job
      this.sum = await own.catch(() => '')
      this.differs = this.sum !== '' && this.sum !== upload.sha256
      this.state = 'arrived'
      announce(job, this.what, () => uploads.ended++)
    } catch (caught) {
      if (signal.aborted) return
      this.problem = asProblem(caught)
      this.state = 'failed'
      say(`${this.what}: ${this.problem.sentence} ${this.problem.detail}`, { bad: true })
    }
  }

  private compute(signal: AbortSignal): Promise<string> {
    return checksum(this.file, signal, (bytes) => (this.read = bytes))
  }

  private move(sent: number, all: number): void {
    const at = performance.now()
    // The form around the file is sent, too.
    this.sent = Math.max(0, Math.min(this.file.size, sent - (all - this.file.size)))
    this.samples = [...this.samples.filter((one) => at - one.at < recent), { at, sent }]
    const [first] = this.samples
    if (first && at - first.at > 300) this.speed = ((sent - first.sent) / (at - first.at)) * 1000
  }
}

/** uniqueId returns a random ID. crypto.randomUUID exists only over HTTPS. */
function uniqueId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, '0')).join('')
}

/** ended changes when the job of an upload is done. */
export const uploads = $state({ all: [] as Upload[], ended: 0 })

/** begin adds uploads; they are sent in order. */
export function begin(more: Upload[]): void {
  uploads.all = [...uploads.all, ...more]
  next()
}

/** forget removes finished uploads from the list. */
export function forget(): void {
  uploads.all = uploads.all.filter((one) => !one.over)
}

let running = 0
function next(): void {
  addEventListener('beforeunload', warn)
  while (running < atOnce) {
    const one = uploads.all.find(({ state }) => state === 'waiting')
    if (!one) break
    running++
    void one.go().then(() => {
      running--
      next()
    })
  }
  if (running === 0) removeEventListener('beforeunload', warn)
}

/** warn lets the browser ask before the page is left, because that would cancel uploads. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
