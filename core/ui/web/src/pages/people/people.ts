// Users and teams.
import type { components } from '../../api/schema'

export type User = components['schemas']['UserAccount']
export type Team = components['schemas']['Team']
export type Host = Pick<components['schemas']['Host'], 'id' | 'name' | 'team_id'>

/** A role in this team applies everywhere. */
export const everywhere = 1

export const roles = ['viewer', 'operator', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

/** The page size of the service. */
const most = 500

/** everyone reads all pages of a list; usually there is one. */
export async function everyone<T>(get: (page: { page: number; per_page: number }) => Promise<T[]>): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; ; page++) {
    const some = await get({ page, per_page: most })
    all.push(...some)
    if (some.length < most) return all
  }
}

/** holder returns the user with roles, as permission checks need it. */
export const holder = (user: User) => ({
  role: user.role,
  roles: user.teams.map(({ id, role }) => ({ team_id: id, role })),
})

const words = [
  'amber',
  'basil',
  'cedar',
  'delta',
  'ember',
  'fjord',
  'grove',
  'heron',
  'indigo',
  'jetty',
  'kelp',
  'lemon',
  'maple',
]
words.push(
  'nickel',
  'ocean',
  'pebble',
  'quartz',
  'raven',
  'saddle',
  'timber',
  'umber',
  'velvet',
  'willow',
  'xenon',
  'yarrow',
  'zinc',
)

/** newPassword generates a password that can be read out: four words and twelve digits, about 58 bits. */
export function newPassword(): string {
  const drawn = crypto.getRandomValues(new Uint32Array(8))
  const some = [...drawn.slice(0, 4)].map((n) => words[n % words.length])
  const digits = [...drawn.slice(4)].map((n) => String(n % 1000).padStart(3, '0'))
  return [...some, ...digits].join('-')
}
