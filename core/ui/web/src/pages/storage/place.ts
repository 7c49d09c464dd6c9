// Shared code for the parts of a storage's page.
import type { components } from '../../api/schema'
import { has, t } from '../../words/words'

export type Volume = components['schemas']['StorageVolume']
export type Kind = Volume['kind']

/** Place is a storage on its page. */
export interface Place {
  host_id: number
  name: string
  cluster_id: number | undefined
  /** The team of the host through which it is reached; permissions depend on it. */
  team_id: number | null
  shared: boolean
  /** The allowed content types, in the hypervisor's words. */
  content: string[]
  nodes: components['schemas']['StorageNode'][]
}

/** Content of guests and their backups cannot be uploaded. */
const made = ['images', 'rootdir', 'backup']
/** uploadable returns the content types of which files can be uploaded. */
export const uploadable = (content: string[]): string[] => content.filter((one) => !made.includes(one))

/** contentName returns a content type in words; a type that the page does not know stays as it is. */
export const contentName = (type: string): string =>
  has(`storage.content.${type}`) ? t(`storage.content.${type as 'iso'}`) : type

/** sums parses a list of SHA-256 checksums in the format of sha256sum: the checksum of each name. */
export function sums(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, sum, name] = /^\\?([0-9a-fA-F]{64})\s+\*?(.+)$/.exec(line) ?? []
    const [, other, last] = /^SHA256 \((.+)\) = ([0-9a-fA-F]{64})$/.exec(line) ?? []
    if (sum && name) found.set(base(name), sum.toLowerCase())
    else if (other && last) found.set(base(other), last.toLowerCase())
  }
  return found
}

const base = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Share is how much of a storage something uses. */
export interface Share {
  name: string
  count: number
  bytes: number
}

/** shares adds up volumes by name, largest first. */
export function shares(volumes: Volume[], name: (volume: Volume) => string): Share[] {
  const found = new Map<string, Share>()
  for (const one of volumes) {
    const of = name(one)
    const share = found.get(of) ?? { name: of, count: 0, bytes: 0 }
    share.count++
    // A thin disk uses less than its size, if the hypervisor reports that.
    share.bytes += one.used_bytes ?? one.size_bytes ?? 0
    found.set(of, share)
  }
  return [...found.values()].sort((a, b) => b.bytes - a.bytes || a.name.localeCompare(b.name))
}

/** deleted returns the path that deletes a volume. */
export const volumePath = ({ host_id, name }: Place, volume: Volume) => ({ host_id, name, volid: volume.volid })

interface Figures {
  used_bytes: number | null
  total_bytes: number | null
}

/** used adds up storages. One without figures counts as nothing. */
export function used(all: Figures[]): { used_bytes: number; total_bytes: number } {
  const known = all.filter((one) => one.used_bytes !== null && one.total_bytes !== null)
  return {
    used_bytes: known.reduce((sum, one) => sum + one.used_bytes!, 0),
    total_bytes: known.reduce((sum, one) => sum + one.total_bytes!, 0),
  }
}
