// What a node offers for a new guest, as the hypervisor reports it.
import { api } from '../../api/client'
import type { components } from '../../api/schema'
import { bytes } from '../../kit/figures'

export type Placement = components['schemas']['GuestPlacement']
type Place = Placement['storages'][number]
export type Node = components['schemas']['ClusterNode']

export const placementOf = (host_id: number, node: string): Promise<Placement> =>
  api.get('/api/v1/hosts/{host_id}/nodes/{node}/placement', { path: { host_id, node } })

/** imagesOn returns the ISO images that a node has on a storage. */
export const imagesOn = (host_id: number, node: string, name: string): Promise<components['schemas']['StorageVolume'][]> =>
  api.get('/api/v1/storage/{host_id}/{name}/content', {
    path: { host_id, name },
    query: { node, kind: 'image', per_page: 500 },
  })

/** nodesOf returns the online nodes of a cluster, by name. */
export async function nodesOf(cluster: number): Promise<Node[]> {
  const all = await api.get('/api/v1/cluster/nodes')
  return all.filter((one) => one.cluster_id === cluster && one.status === 'online')
}

/** nodesBeside returns the online nodes of a host's cluster, by name. */
export async function nodesBeside(host: number): Promise<Node[]> {
  const own = await api.get('/api/v1/hosts/{host_id}', { path: { host_id: host } })
  return own.cluster ? nodesOf(own.cluster.id) : []
}

/** withRoom returns the usable storages with this many free bytes, or with thin provisioning, those with the most space first. */
export const withRoom = (placement: Placement | undefined, fits: (storage: Place) => boolean, wanted: number): Place[] =>
  (placement?.storages ?? [])
    .filter((one) => fits(one) && one.available && (one.thin || one.free_bytes === null || one.free_bytes >= wanted))
    .sort((a, b) => (b.free_bytes ?? 0) - (a.free_bytes ?? 0))

/** scarce reports that disks may grow beyond the free space of the chosen storage. */
export const scarce = (storages: Place[], name: string, wanted: number): boolean =>
  storages.some((one) => one.name === name && one.free_bytes !== null && one.free_bytes < wanted)

/** optionOf returns a storage as a choice, with its free space. */
export const optionOf = ({ name, free_bytes: free }: Place): { value: string; text: string } => ({
  value: name,
  text: free === null ? name : `${name} · ${bytes(free)}`,
})
