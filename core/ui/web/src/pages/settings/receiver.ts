// The receiver of metrics in a form.
import { command, type Command } from '../../api/client'
import type { components } from '../../api/schema'

export type State = components['schemas']['RemotewriteState']
export const ways = ['none', 'basic', 'bearer'] as const
export type Way = (typeof ways)[number]

export interface Receiver {
  url: string
  auth: Way
  username: string
  password: string
  bearer_token: string
  tls_fingerprint: string
}

/** receiverOf returns the current receiver without secrets, which are never shown. */
export const receiverOf = (state: State): Receiver => ({
  url: state.url ?? '',
  auth: state.auth,
  username: state.username ?? '',
  password: '',
  bearer_token: '',
  tls_fingerprint: state.tls_fingerprint ?? '',
})

/** isWhole reports whether everything that the authentication needs is filled in. */
export const isWhole = ({ url, auth, username, password, bearer_token: token }: Receiver): boolean =>
  url.trim() !== '' && (auth === 'none' || (auth === 'basic' ? username.trim() !== '' && password !== '' : token !== ''))

/** setCommand returns the request that replaces the receiver. */
export function setCommand({ url, auth, username, password, ...more }: Receiver): Command<State> {
  const fingerprint = more.tls_fingerprint.trim()
  return command('put', '/api/v1/metrics/remote-write', {
    body: {
      url: url.trim(),
      ...(fingerprint ? { tls_fingerprint: fingerprint } : {}),
      ...(auth === 'basic' ? { username: username.trim(), password } : {}),
      ...(auth === 'bearer' ? { bearer_token: more.bearer_token } : {}),
    },
  })
}

export const removeCommand = () => command('delete', '/api/v1/metrics/remote-write')
