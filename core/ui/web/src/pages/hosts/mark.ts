// The state of a host's token for one capability, as a symbol and a word.
import type { Host } from '../../live/hosts.svelte'

/** In the order in which they are shown. */
export const capabilities = ['monitoring', 'lifecycle', 'console', 'backup', 'node_power'] as const
export type Capability = (typeof capabilities)[number]

/** none: there is no token; little: it lacks privileges; wide: it has more than it needs; has: it is right. */
export type Mark = 'has' | 'little' | 'wide' | 'none'

export const signs: Record<Mark, string> = { has: '✓', little: '!', wide: '+', none: '–' }

interface Token {
  missing: string[]
  extra: string[]
}

export function markOf(token: Token | undefined): Mark {
  if (!token) return 'none'
  return token.missing.length ? 'little' : token.extra.length ? 'wide' : 'has'
}

export const tokenOf = (host: Host, capability: Capability): Host['capabilities'][number] | undefined =>
  host.capabilities.find((one) => one.key === capability)
