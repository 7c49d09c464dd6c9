// When the parts of a guest's page load its configuration again.
import type { Guest } from '../../live/guests.svelte'
import { isDone, jobs, newestJobs, type Job } from '../../live/jobs.svelte'
import { begun } from './changes'

/** lastJob returns the number of the newest job of a guest that has ended; 0 if there is none. */
export const lastJob = (all: Job[], { id, app_id }: Pick<Guest, 'id' | 'app_id'>): number =>
  Math.max(
    0,
    ...all
      .filter(({ target: { kind, id: of } }) => (kind === 'vm' && of === id) || (kind === 'app' && of === app_id))
      .filter(isDone)
      .map((job) => job.id),
  )

/** stateOf changes whenever the configuration of a guest may have: a job has ended, a dialog was closed, or its size is another one. */
export function stateOf(guest: Guest): string {
  void jobs.tick
  const { id, app_id, name, cpus, memory_total_bytes, disk_total_bytes } = guest
  return JSON.stringify([lastJob(newestJobs(), guest), begun(), id, app_id, name, cpus, memory_total_bytes, disk_total_bytes])
}
