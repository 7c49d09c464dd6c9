// A container that is not adopted can be seen, but not used. To adopt it, only its place is needed.
import { command, run } from '../../api/client'
import type { Guest } from '../../live/guests.svelte'

export const adoptCommand = (containers: Guest[]) =>
  command('post', '/api/v1/apps/adopt', {
    body: { items: containers.map(({ host_id, guest_ref }) => ({ host_id, guest_ref })) },
  })

/** isStranger reports whether a guest is a container that is not adopted. */
export const isStranger = (guest: Guest): boolean => guest.kind === 'container' && guest.app_id === null

/** adopt makes an app of a container and returns the updated guest. The feed updates the rest of the page. */
export async function adopt(guest: Guest): Promise<Guest> {
  const [app] = await run(adoptCommand([guest]))
  return { ...guest, app_id: app?.id ?? null }
}
