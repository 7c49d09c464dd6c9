// Shared code for the pages of recordings.
import { address, command } from '../../api/client'
import type { components } from '../../api/schema'
import { allGuests } from '../../live/guests.svelte'

export type Recording = components['schemas']['ConsoleRecording']

/** placeOf returns the path of the console's guest or node. */
export function placeOf({ target_kind: kind, target_id: id }: Recording): string | undefined {
  if (kind === 'host') return `/hosts/${id}`
  if (kind === 'vm') return `/guests/${id}`
  const guest = allGuests().find((one) => one.app_id === id)
  return guest && `/guests/${guest.id}`
}

/** lengthOf returns the length of a recording in seconds, as far as it is known. */
export const lengthOf = ({ started_at: from, ended_at: to }: Recording): number | null =>
  to === null ? null : (Date.parse(to) - Date.parse(from)) / 1000

/** castOf returns the address of the asciicast. Every download of it is in the audit log. */
export const castOf = ({ id }: Recording): string =>
  address('/api/v1/console-recordings/{recording_id}/cast', { path: { recording_id: id } })

export const deletionOf = ({ id }: Recording) =>
  command('delete', '/api/v1/console-recordings/{recording_id}', { path: { recording_id: id } })
