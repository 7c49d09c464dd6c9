// Users and teams as the page has them.
import type { components } from '../../api/schema'

export type User = components['schemas']['UserAccount']
export type Team = components['schemas']['Team']
export type Host = Pick<components['schemas']['Host'], 'id' | 'name' | 'team_id'>

/** A role in this team holds everywhere. */
export const everywhere = 1

export const roles = ['viewer', 'operator', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

/** What the service gives at once. */
const most = 500

/** everyone reads all pages of a list; mostly there is one. */
export async function everyone<T>(get: (page: { page: number; per_page: number }) => Promise<T[]>): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; ; page++) {
    const some = await get({ page, per_page: most })
    all.push(...some)
    if (some.length < most) return all
  }
}

/** holder is the user with roles, as rights are asked for. */
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

/** newPassword is one that can be read out: four words and twelve digits, some 58 bits. */
export function newPassword(): string {
  const drawn = crypto.getRandomValues(new Uint32Array(8))
  const some = [...drawn.slice(0, 4)].map((n) => words[n % words.length])
  const digits = [...drawn.slice(4)].map((n) => String(n % 1000).padStart(3, '0'))
  return [...some, ...digits].join('-')
}
