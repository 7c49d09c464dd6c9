import { allGuests, type Guest } from '../../live/guests.svelte'
import type { Place } from './place'

/** owners returns the guests of a storage's cluster, by the hypervisor's IDs. */
export function owners(place: Place): Map<string, Guest> {
  const found = new Map<string, Guest>()
  for (const one of allGuests()) if (one.cluster_id === place.cluster_id) found.set(one.guest_ref, one)
  return found
}
