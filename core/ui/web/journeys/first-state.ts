// Makes the state folder of a service that has started once and has no owner yet. Each file's service begins with a copy: to make a
// database and to migrate it takes longer than many a journey.
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startService } from './start'

declare module 'vitest' {
  interface ProvidedContext {
    firstState: string
  }
}

export default async function firstState(project: TestProject): Promise<() => void> {
  const state = await (await startService(undefined)).leave()
  project.provide('firstState', state)
  return () => rmSync(dirname(state), { recursive: true, force: true })
}
