// The fields of each kind of channel.
import type { components } from '../../../api/schema'

export type Channel = components['schemas']['Channel']
export type Kind = Channel['kind']
type Setting = Exclude<keyof components['schemas']['ChannelSettings'], 'tls_fingerprint'>
export type Secret = keyof components['schemas']['NotificationSecrets']

interface Needs {
  /** A star marks required fields. */
  settings: (Setting | `${Setting}*`)[]
  secrets: (Secret | `${Secret}*`)[]
}

/** kinds are all kinds, in the order in which they are offered. */
export const kinds: Record<Kind, Needs> = {
  smtp: { settings: ['server*', 'security', 'username', 'from*', 'to*'], secrets: ['password'] },
  webhook: { settings: ['url*'], secrets: ['secret', 'token'] },
  ntfy: { settings: ['topic*', 'url'], secrets: ['token'] },
  gotify: { settings: ['url*'], secrets: ['token*'] },
  discord: { settings: [], secrets: ['url*'] },
  slack: { settings: [], secrets: ['url*'] },
  teams: { settings: [], secrets: ['url*'] },
  telegram: { settings: ['chat*', 'url'], secrets: ['token*'] },
  matrix: { settings: ['url*', 'room*'], secrets: ['token*'] },
  pushover: { settings: ['url', 'device'], secrets: ['token*', 'user*'] },
}
export const kindNames = Object.keys(kinds) as Kind[]

/** plain returns a name without its star. */
export const plain = <N extends string>(name: N): N extends `${infer P}*` ? P : N =>
  name.replace('*', '') as N extends `${infer P}*` ? P : N
export const isNeeded = (name: string): boolean => name.endsWith('*')
