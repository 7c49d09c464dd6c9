// The logged-in user. The session itself is a cookie that scripts cannot read.
import { api, onUnauthenticated } from '../api/client'
import { asProblem, Problem } from '../api/problem'
import type { components } from '../api/schema'

export type Me = components['schemas']['AuthMe']

/** Factor is a possible second factor of an account. */
export type Factor = 'totp' | 'passkey'

type State = 'loading' | 'setup' | 'anonymous' | 'in' | 'failed'

interface Session {
  state: State
  me: Me | undefined
  /** Features that are turned off. */
  off: string[]
  /** The session ended while the page was in use. The login is shown on top of it. */
  ended: boolean
  /** A login through an identity provider that still needs a second factor, and the factors of the account; empty for none. */
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

/** ended is called after a 401. If somebody was logged in, the login is shown on top of the page, and their work continues afterwards. */
function ended(): Promise<void> {
  if (session.state !== 'in') return Promise.reject(new Problem({ id: 'unauthenticated', status: 401 }))
  session.ended = true
  return new Promise((resolve) => waiting.push(resolve))
}

/** withoutSession finds out whether the service has no owner yet, or nobody is logged in. */
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
  // Features are for users who have a role.
  session.off = me.roles.length ? (await api.get('/api/v1/entitlements')).filter((e) => !e.enabled).map((e) => e.name) : []
  session.me = me
  session.state = 'in'
}

/** loggedIn is called after a successful login. It continues everything that waited for it. */
export async function loggedIn(): Promise<void> {
  const before = session.me?.user.id
  await loadMe()
  if (before !== undefined && before !== session.me?.user.id) {
    // Everything that the page has loaded belonged to another user.
    location.reload()
    return
  }
  session.ended = false
  session.pending = ''
  const all = waiting
  waiting = []
  for (const go of all) go()
}

/** refreshMe reloads what may have changed about the user, such as the second factor. */
export const refreshMe = loadMe

/**
 * logOut ends the session here and at the service. If the user logged in through a provider, it also logs out there; the provider then
 * sends the browser back.
 */
export async function logOut(): Promise<void> {
  if (session.me?.session?.method === 'provider') {
    const { url } = await api.post('/api/v1/auth/logout/provider')
    if (url) {
      location.assign(url)
      return
    }
  } else await api.post('/api/v1/auth/logout')
  // Everything that the page has loaded belonged to this user.
  location.reload()
}
