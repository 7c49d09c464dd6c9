// What the journeys of one file share: a service with its first owner, a browser, and a cluster that is enrolled.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, inject } from 'vitest'
import { startBrowser, startCluster, startService, type Caller, type Service, type Simulator } from './start'

/** These are there in every test of a file that calls stage, and in what it prepares itself after that. */
export let service: Service
export let browser: Browser
/** caller is the API as the owner sees it; there is none without an owner. */
export let caller: Caller
/** cluster is none where a file has said so. */
export let cluster: Simulator

/**
 * stage starts them before the first test of a file and ends them after the last. wants says how large the cluster is, or what there is
 * not; named is a service that knows its address, by a name and not a number.
 */
export function stage(wants: { owner?: false; cluster?: false | Parameters<typeof startCluster>[1]; named?: true } = {}): void {
  beforeAll(async () => {
    ;[service, browser] = await Promise.all([startService(inject('firstState'), wants.named), startBrowser()])
    if (wants.owner === false) return
    caller = await service.setUp()
    if (wants.cluster !== false) cluster = await startCluster(caller, wants.cluster)
  })
  afterAll(async () => {
    // What has not begun because something before it failed is not there.
    await (browser as Browser | undefined)?.close()
    await (service as Service | undefined)?.stop()
    await (cluster as Simulator | undefined)?.stop()
  })
}
