// Who is logged in. The session itself is a cookie that scripts cannot read.
import { api, onUnauthenticated } from '../api/client'
import { asProblem, Problem } from '../api/problem'
import type { components } from '../api/schema'

export type Me = components['schemas']['AuthMe']

/** Factor is what an account can have as second factor. */
export type Factor = 'totp' | 'passkey'

type State = 'loading' | 'setup' | 'anonymous' | 'in' | 'failed'

interface Session {
  state: State
  me: Me | undefined
  /** Features that are switched off. */
  off: string[]
  /** The session has ended while the page was used: the log-in is shown over it. */
  ended: boolean
  /** A log-in by an identity provider whose second factor is due, and what the account has as one; empty for none. */
  pending: string
  factors: Factor[]
  problem: Problem | undefined
}

export const session: Session = $state({
  state: 'loading',
  me: undefined,
  off: [],
  ended: false,
  pending: '',
  factors: [],
  problem: undefined,
})

let waiting: (() => void)[] = []

/** startSession finds out who is logged in. */
export async function startSession(): Promise<void> {
  onUnauthenticated(ended)
  session.problem = undefined
  try {
    await loadMe()
  } catch (caught) {
    const problem = asProblem(caught)
    if (problem.id === 'unauthenticated') session.state = await withoutSession().catch(failed)
    else session.state = failed(problem)
  }
}

/** ended is told of a 401. Where somebody was logged in, the log-in is shown over the page, and what they did goes on after it. */
function ended(): Promise<void> {
  if (session.state !== 'in') return Promise.reject(new Problem({ id: 'unauthenticated', status: 401 }))
  session.ended = true
  return new Promise((resolve) => waiting.push(resolve))
}

/** withoutSession tells a service without an owner from one where nobody is logged in. */
async function withoutSession(): Promise<State> {
  try {
    return (await api.get('/api/v1/setup')).needed ? 'setup' : 'anonymous'
  } catch (caught) {
    if (asProblem(caught).id === 'already_set_up') return 'anonymous'
    throw caught
  }
}

function failed(caught: unknown): State {
  session.problem = asProblem(caught)
  return 'failed'
}

async function loadMe(): Promise<void> {
  const me = await api.get('/api/v1/auth/me')
  // The features are for those who have a role somewhere.
  session.off = me.roles.length ? (await api.get('/api/v1/entitlements')).filter((e) => !e.enabled).map((e) => e.name) : []
  session.me = me
  session.state = 'in'
}

/** loggedIn is called when a log-in has succeeded: what waited for it goes on. */
export async function loggedIn(): Promise<void> {
  const before = session.me?.user.id
  await loadMe()
  if (before !== undefined && before !== session.me?.user.id) {
    // All that the page has loaded was somebody else's.
    location.reload()
    return
  }
  session.ended = false
  session.pending = ''
  const all = waiting
  waiting = []
  for (const go of all) go()
}

/** refreshMe reads anew what may have changed about the person, such as the second factor. */
export const refreshMe = loadMe

/** logOut ends the session, here and at the service; and at the provider by which one came in, which then sends the browser back. */
export async function logOut(): Promise<void> {
  if (session.me?.session?.method === 'provider') {
    const { url } = await api.post('/api/v1/auth/logout/provider')
    if (url) {
      location.assign(url)
      return
    }
  } else await api.post('/api/v1/auth/logout')
  // All that the page has loaded was this person's.
  location.reload()
}
