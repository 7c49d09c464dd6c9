// The page of the object of a problem or an activity.
import type { components } from '../../api/schema'

type Fault = components['schemas']['ClusterProblem']
type Alert = components['schemas']['Alert']
type Activity = components['schemas']['ClusterActivity']

/** placeOf returns the path of the page that fixes a problem; undefined if there is none. appOf finds the guest of an app. */
export function placeOf(fault: Fault, appOf: (id: number) => number | undefined): string | undefined {
  const { target, host_id: host, job_id: job } = fault
  if (job !== null) return `/jobs/${job}`
  return placeOfThing(target.kind, target.id, target.name, host, appOf)
}

/** placeOfAlert returns the path of an alert's object. */
export const placeOfAlert = ({ target, host_id: host }: Alert, appOf: (id: number) => number | undefined): string | undefined =>
  placeOfThing(target.kind, target.id, target.kind === 'node' ? target.node || target.name : target.name, host, appOf)

/** placeOfActivity returns the path of an activity or of its object. */
export function placeOfActivity(one: Activity, appOf: (id: number) => number | undefined): string | undefined {
  if (one.kind === 'job') return `/jobs/${one.id}`
  if (one.kind === 'alert') return `/alerts/${one.id}`
  if (!one.target) return undefined
  const id = one.target.id === null ? null : Number(one.target.id)
  return placeOfThing(one.target.kind, Number.isInteger(id) ? id : null, one.target.name ?? '', one.host_id, appOf)
}

function placeOfThing(
  kind: string,
  id: number | null,
  name: string,
  host: number | null,
  appOf: (id: number) => number | undefined,
): string | undefined {
  if (kind === 'host' && id !== null) return `/hosts/${id}`
  if (kind === 'node' && host !== null && name) return `/hosts/${host}/nodes/${encodeURIComponent(name)}`
  if ((kind === 'vm' || kind === 'container') && id !== null) return `/guests/${id}`
  if (kind === 'app' && id !== null) {
    const guest = appOf(id)
    if (guest !== undefined) return `/guests/${guest}`
  }
  if (kind === 'job' && id !== null) return `/jobs/${id}`
  return host === null ? undefined : `/hosts/${host}`
}

/**
 * titleOf writes out a title that begins with an action or a kind of job: "host.rotate_credentials lab" becomes "Rotate credentials: host
 * lab". A login is not on an object: "auth.login ann" becomes "Login: ann".
 */
export function titleOf(title: string): string {
  const [, noun, verb, rest] = /^([a-z_]+)\.([a-z_]+)(?: (.*))?$/s.exec(title) ?? []
  if (!noun || !verb) return title
  const words = (text: string): string =>
    text.replaceAll('_', ' ').replace(/\b(api|ip|nic|ssh|totp|vm)\b/g, (short) => short.toUpperCase())
  const object = [noun === 'auth' ? '' : words(noun), rest].filter(Boolean).join(' ')
  return words(verb).replace(/^./, (first) => first.toUpperCase()) + (object && `: ${object}`)
}
