import { has, t, type Key } from '../words/words'
import type { ErrorId } from './operations'

/** Identifiers that the page adds to those of the API. */
type OwnId = 'offline' | 'unreadable' | 'declined'

/** Every identifier has a sentence and a remedy in en.json. This type requires all of them. */
type Needed = Record<`problem.${ErrorId | OwnId}`, string> & Record<`remedy.${ErrorId | OwnId}`, string>
type Lacking = Exclude<keyof Needed, Key>
export const lacking: [Lacking] extends [never] ? true : Lacking = true

/** Fault is one fault of an input. */
export interface Fault {
  loc: (string | number)[]
  msg: string
  type: string
}

interface Told {
  id: ErrorId | OwnId
  status: number
  detail?: string
  members?: Record<string, unknown>
  faults?: Fault[]
  requestId?: string
  retryAfter?: number
}

/** Problem is an unsuccessful response of the service, or no response at all. */
export class Problem extends Error {
  readonly id: ErrorId | OwnId
  readonly status: number
  /** The service's own sentence; empty if there is none. */
  readonly detail: string
  readonly members: Record<string, unknown>
  readonly faults: Fault[]
  readonly requestId: string
  /** Seconds to wait; 0 if the service did not say. */
  readonly retryAfter: number

  constructor(told: Told) {
    super(told.detail ?? told.id)
    this.id = told.id
    this.status = told.status
    this.detail = told.detail ?? ''
    this.members = told.members ?? {}
    this.faults = told.faults ?? []
    this.requestId = told.requestId ?? ''
    this.retryAfter = told.retryAfter ?? 0
  }

  /** The page's sentence for what happened. */
  get sentence(): string {
    return t(`problem.${this.id}`)
  }

  /** The page's sentence for how to fix it. */
  get remedy(): string {
    return t(`remedy.${this.id}`, { seconds: this.retryAfter || 5 })
  }

  /** The fault of one field of the body, or of a nested field such as 'on', 'tags'; undefined if it has none. */
  fault(...field: string[]): string | undefined {
    const found = this.faults.find(({ loc }) => loc[0] === 'body' && field.every((part, i) => loc[i + 1] === part))
    return found?.msg.replace(/^[a-z]/, (first) => first.toUpperCase())
  }
}

/** problemOf reads the problem from a response. A response that is not from the service, such as a proxy's, is unreadable. */
export async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get('X-Request-Id') ?? ''
  const retryAfter = Number(response.headers.get('Retry-After')) || 0
  let body: Record<string, unknown> = {}
  try {
    const read: unknown = await response.json()
    if (read && typeof read === 'object') body = read as Record<string, unknown>
  } catch {
    // It stays unreadable.
  }
  const told = { status: response.status, requestId, retryAfter }
  if (response.status === 422 && Array.isArray(body.detail))
    return new Problem({ ...told, id: 'invalid', faults: body.detail as Fault[] })
  const id = typeof body.error === 'string' && has(`problem.${body.error}`) ? (body.error as ErrorId) : 'unreadable'
  return new Problem({ ...told, id, detail: typeof body.detail === 'string' ? body.detail : '', members: body })
}

/** asProblem converts anything that was caught to a problem. A fault of the page itself is unreadable, with its text. */
export function asProblem(caught: unknown): Problem {
  if (caught instanceof Problem) return caught
  return new Problem({ id: 'unreadable', status: 0, detail: caught instanceof Error ? caught.message : String(caught) })
}
