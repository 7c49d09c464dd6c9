// Who is logged in. The session itself is a cookie that scripts cannot read.
import { api, onUnauthenticated } from '../api/client'
import { asProblem, type Problem } from '../api/problem'
import type { components } from '../api/schema'

export type Me = components['schemas']['AuthMe']

type State = 'loading' | 'setup' | 'anonymous' | 'in' | 'failed'

interface Session {
  state: State
  me: Me | undefined
  /** Features that are switched off. */
  off: string[]
  /** The session has ended while the page was used: the log-in is shown over it. */
  ended: boolean
  problem: Problem | undefined
}

export const session: Session = $state({ state: 'loading', me: undefined, off: [], ended: false, problem: undefined })

let waiting: (() => void)[] = []

/** startSession finds out who is logged in. */
export async function startSession(): Promise<void> {
  onUnauthenticated(() => {
    if (session.state !== 'in') {
      session.state = 'anonymous'
      return Promise.reject(new Error('nobody is logged in'))
    }
    session.ended = true
    return new Promise((resolve) => waiting.push(resolve))
  })
  session.problem = undefined
  try {
    const { needed } = await api.get('/api/v1/setup')
    if (needed) {
      session.state = 'setup'
      return
    }
    await loadMe()
  } catch (caught) {
    const problem = asProblem(caught)
    // A browser without a session gets a 401, which is no fault. The state says so already.
    if ((session.state as State) !== 'anonymous') {
      session.problem = problem
      session.state = 'failed'
    }
  }
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
  await loadMe()
  session.ended = false
  const all = waiting
  waiting = []
  for (const go of all) go()
}

/** refreshMe reads anew what may have changed about the person, such as the second factor. */
export const refreshMe = loadMe

/** logOut ends the session, here and at the service. */
export async function logOut(): Promise<void> {
  await api.post('/api/v1/auth/logout')
  // All that the page has loaded was this person's.
  location.reload()
}
