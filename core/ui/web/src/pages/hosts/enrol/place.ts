// The state of the enrolment. Everything but secrets is in the address, so that the user can leave, go back and continue.
// The preferences keep that address until the host is enrolled.
import { preferences } from '../../../app/preferences.svelte'
import { navigate } from '../../../app/router.svelte'
import { capabilities, type Capability } from '../mark'

export const steps = ['address', 'capabilities', 'script', 'tokens', 'done'] as const
export type Step = (typeof steps)[number]

export interface Place {
  step: Step
  /** Whether the address was changed after its certificate was last compared: only the first step is open. */
  draft: boolean
  driver: string
  address: string
  name: string
  /** The fingerprint that the user has compared; empty if a trusted authority signed the certificate. */
  pin: string
  wanted: Capability[]
  /** The path of the permissions; empty for everything. */
  path: string
  shell: boolean
  /** The host, once it is enrolled. */
  host: number
}

/** A token that is entered by hand. */
export interface Entry {
  capability: Capability
  id: string
  secret: string
}

const text = (query: URLSearchParams, name: string, most: number): string => (query.get(name) ?? '').slice(0, most)

/** placeOf reads the address. Invalid values are left out, because a link may come from anybody. */
export function placeOf(query: URLSearchParams): Place {
  const wanted = (query.get('can') ?? 'monitoring').split(' ')
  const pin = text(query, 'pin', 95).toUpperCase()
  const host = Number(query.get('host'))
  const place: Place = {
    step: steps.find((one) => one === query.get('step')) ?? 'address',
    draft: query.get('draft') !== null,
    driver: text(query, 'driver', 63),
    address: text(query, 'at', 300),
    name: text(query, 'name', 100),
    pin: /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/.test(pin) ? pin : '',
    wanted: capabilities.filter((one) => one === 'monitoring' || wanted.includes(one)),
    path: text(query, 'path', 300),
    shell: query.get('shell') !== null,
    host: Number.isInteger(host) && host > 0 ? host : 0,
  }
  if (place.draft || !place.address || !place.name) place.step = 'address'
  if (place.step === 'done' && !place.host) place.step = 'tokens'
  return place
}

/** go goes to a step, with a new entry in the browser's history. */
export function go(place: Place): void {
  preferences.enrolment = place.host ? '' : pathOf(place)
  navigate(pathOf(place))
}

/** keep writes the entries of the present step to the address, so that a reload keeps them. */
export function keep(place: Place): void {
  preferences.enrolment = pathOf(place)
  navigate(pathOf(place), { replace: true })
}

/** unfinished returns the enrolment that the user has begun; undefined if there is none. */
export function unfinished(): { path: string; place: Place } | undefined {
  const path = preferences.enrolment
  if (!path.startsWith('/hosts/enrol?')) return undefined
  return { path, place: placeOf(new URLSearchParams(path.slice(path.indexOf('?')))) }
}

function pathOf(place: Place): string {
  const values: Record<string, string> = {
    step: place.step,
    draft: place.draft ? '1' : '',
    driver: place.driver,
    at: place.address,
    name: place.name,
    pin: place.pin,
    can: place.wanted.join(' '),
    path: place.path,
    shell: place.shell ? '1' : '',
    host: place.host ? String(place.host) : '',
  }
  return `/hosts/enrol?${new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''))}`
}
