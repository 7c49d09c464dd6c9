// What describes a VM: its name, tags and notes.
import { command, type Command } from '../../api/client'
import type { components } from '../../api/schema'
import type { Config } from './size'

export interface Details {
  name: string
  /** Separated by spaces. */
  tags: string
  description: string
}

export const detailsOf = ({ name, tags, description }: Config): Details => ({ name, tags: tags.join(' '), description })

const split = (tags: string): string[] => [...new Set(tags.split(/[\s,;]+/).filter(Boolean))]

/** detailsCommand returns the request for the changes to a configuration, and whether there are any. */
export function detailsCommand(vm_id: number, config: Config, now: Details): { request: Command<Config>; changed: boolean } {
  const before = detailsOf(config)
  const tags = split(now.tags)
  const changes: components['schemas']['ReconfigureVmRequest'] = {
    ...(now.name.trim() === before.name ? {} : { name: now.name.trim() }),
    ...(tags.join(' ') === before.tags ? {} : { tags }),
    ...(now.description === before.description ? {} : { description: now.description }),
  }
  const body = { ...changes, ...(config.digest ? { digest: config.digest } : {}) }
  return {
    request: command('patch', '/api/v1/vms/{vm_id}', { path: { vm_id }, body }),
    changed: Object.keys(changes).length > 0,
  }
}
