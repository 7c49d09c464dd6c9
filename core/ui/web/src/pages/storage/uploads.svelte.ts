// The uploads of this tab. They go on while one walks through the pages: nothing of them lives in a page.
import { sendFile, uploadCommand, type Target } from '../../api/upload'
import { asProblem, type Problem } from '../../api/problem'
import { say } from '../../kit/toasts.svelte'
import type { Job } from '../../live/jobs.svelte'
import { announce } from '../jobs/announce'
import { checksum } from './checksum'

/** How many are sent at once, for over plain HTTP a browser has six connections to a server; the others wait for their turn. */
const atOnce = 2
/** The speed is that of the last so many milliseconds. */
const recent = 5000

export type State = 'waiting' | 'checking' | 'sending' | 'arrived' | 'failed' | 'canceled'

let last = 0

/** Upload is one file on its way. */
export class Upload {
  readonly key = ++last
  state: State = $state('waiting')
  /** How much of it has been read for its checksum, and how much has been sent, in bytes. */
  read = $state(0)
  sent = $state(0)
  /** Bytes a second; none before it can be told. */
  speed: number | undefined = $state()
  /** Its SHA-256 as it was computed here; empty before. */
  sum = $state('')
  /** What the service got is something else than what was sent. */
  differs = $state(false)
  problem: Problem | undefined = $state.raw()
  job: Job | undefined = $state.raw()
  private control = new AbortController()
  private samples: { at: number; sent: number }[] = []

  /** what names the act for other pages, such as "Upload debian.iso". */
  constructor(
    readonly file: File,
    readonly target: Target,
    readonly what: string,
  ) {}

  /** The SHA-256 that the file must have; empty for any. */
  get wanted(): string {
    return this.target.sha256
  }
  /** It is over: nothing of it is under way here any more. */
  get over(): boolean {
    return this.state === 'arrived' || this.state === 'failed' || this.state === 'canceled'
  }
  /** The file is another one than was wanted: it was not sent. */
  get wrong(): boolean {
    return this.state === 'failed' && this.sum !== '' && this.wanted !== '' && this.sum !== this.wanted
  }
  /** Seconds until all is sent; none before it can be told. */
  get left(): number | undefined {
    return this.speed ? Math.max(0, this.file.size - this.sent) / this.speed : undefined
  }

  cancel(): void {
    if (this.over) return
    this.state = 'canceled'
    this.control.abort()
  }

  /** go does all of it. It never throws. */
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
      own.catch(() => undefined) // it is waited for below, and may fail before
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

/** uniqueId is a random id. crypto.randomUUID is there over HTTPS only. */
function uniqueId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, '0')).join('')
}

/** ended moves when the job of an upload is done. */
export const uploads = $state({ all: [] as Upload[], ended: 0 })

/** begin adds uploads; they are sent in their order. */
export function begin(more: Upload[]): void {
  uploads.all = [...uploads.all, ...more]
  next()
}

/** forget takes what is over from the list. */
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

/** warn has the browser ask before the page is left for good: what is being sent would end. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
