// The newest jobs that the user may see, and the unfinished ones.
import { api } from '../api/client'
import { asProblem, type Problem } from '../api/problem'
import type { components } from '../api/schema'
import { listen, type Change } from './feed.svelte'

export type Job = components['schemas']['JobView']

/** How many jobs are kept. The list of all jobs is a separate page. */
const most = 100

export const jobs = $state({ tick: 0, loaded: false, problem: undefined as Problem | undefined })

let byId = new Map<number, Job>()
let early: Change[] | undefined
let started = false
const endings = new Map<number, ((job: Job) => void)[]>()

export const isDone = (job: Job): boolean => job.status !== 'queued' && job.status !== 'running'

/** newestJobs returns the jobs: unfinished ones first, then by number. */
export const newestJobs = (): Job[] => [...byId.values()].sort((a, b) => Number(isDone(a)) - Number(isDone(b)) || b.id - a.id)
export const job = (id: number): Job | undefined => byId.get(id)

export function startJobs(): void {
  if (started) return
  started = true
  listen({ changes: (changes) => (early ? early.push(...changes) : apply(changes)), reset: () => void loadJobs() })
  void loadJobs()
}

export async function loadJobs(): Promise<void> {
  early ??= []
  try {
    const list = await api.get('/api/v1/jobs', { query: { per_page: most } })
    byId = new Map(list.map((one) => [one.id, one]))
    jobs.problem = undefined
    jobs.loaded = true
  } catch (caught) {
    jobs.problem = asProblem(caught)
  }
  const changes = early ?? []
  early = undefined
  apply(changes)
  jobs.tick++
  for (const one of byId.values()) settle(one)
}

/** takeJob adds a job from a response. The feed reports the rest. */
export function takeJob(one: Job): void {
  if (!byId.has(one.id)) byId.set(one.id, one)
  jobs.tick++
}

/** whenDone calls back when the job is done, or at once if it already is. */
export function whenDone(id: number, call: (job: Job) => void): void {
  endings.set(id, [...(endings.get(id) ?? []), call])
  const known = byId.get(id)
  if (known) settle(known)
}

function settle(one: Job): void {
  if (!isDone(one)) return
  const calls = endings.get(one.id) ?? []
  endings.delete(one.id)
  for (const call of calls) call(one)
}

function apply(changes: Change[]): void {
  let moved = false
  for (const change of changes) {
    if (change.kind !== 'job') continue
    const before = byId.get(change.id)
    if (change.gone) moved = byId.delete(change.id) || moved
    else if (before || change.whole) {
      const next = { ...before, ...change.set } as Job
      byId.set(change.id, next)
      moved = true
      settle(next)
    }
  }
  if (!moved) return
  const over = [...byId.values()].filter(isDone).sort((a, b) => a.id - b.id)
  for (const old of over.slice(0, Math.max(0, byId.size - most))) byId.delete(old.id)
  jobs.tick++
}
