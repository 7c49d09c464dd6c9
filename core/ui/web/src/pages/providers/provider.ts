import type { components } from '../../api/schema'

export type Provider = components['schemas']['SsoProvider']
export type Rule = components['schemas']['SsoRule']

/** The roles that a rule may give. */
export const roles = ['viewer', 'operator', 'admin', 'owner'] as const
