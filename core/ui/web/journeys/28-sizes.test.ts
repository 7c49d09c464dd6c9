// The overview and the pages of hosts and guests hold with one guest and with 5,000, and the overview with 200 clusters: nothing is wider than the window, and what is empty says
// why. HOSTLER_SIZES chooses other numbers of guests, and HOSTLER_PICTURES a folder for pictures of each.
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { startBrowser, startCluster, startService, until, Visitor } from './start'

const sizes = (process.env['HOSTLER_SIZES'] ?? '1,5000').split(',').map(Number)

let browser: Browser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser.close())

type Told = Record<string, unknown> & { by_host: object[]; by_cluster: { memory_total_bytes: number }[] }

/** manyClusters looks at the overview of a service that says it has 200 clusters with long names. */
async function manyClusters(visitor: Visitor): Promise<void> {
  const { page } = visitor
  await page.route(/\/api\/v1\/cluster\/summary/, async (route) => {
    const response = await route.fetch()
    const told = (await response.json()) as Told
    const many = <T>(make: (i: number) => T): T[] => Array.from({ length: 200 }, (_, i) => make(i + 1))
    const [cluster] = told.by_cluster
    const problem = (i: number) => ({
      severity: i % 3 ? 'warning' : 'critical',
      kind: i % 3 ? 'backup_missing' : 'host_unreachable',
      text: i % 3 ? 'The guest has no backup, but requires one from the last 7 days.' : 'The host does not answer.',
      since: new Date(Date.now() - i * 3_600_000).toISOString(),
      target: { kind: i % 3 ? 'vm' : 'host', id: i, name: `thing-of-a-customer-${i}` },
      host_id: i,
      job_id: null,
    })
    const json = {
      ...told,
      ...{ hosts: 200, hosts_online: 187, clusters: 200, nodes: 600, nodes_online: 590, vms: 41_234, containers: 12_345 },
      by_host: many((i) => ({
        ...told.by_host[0],
        id: i,
        name: `customer-${i}`,
        requests_per_minute: i % 7,
        busy_s_per_minute: 0.2,
      })),
      by_cluster: many((i) => ({
        ...cluster,
        id: i,
        name: `cluster-of-customer-${i}`,
        memory_bytes: (cluster!.memory_total_bytes * ((i * 37) % 100)) / 100,
      })),
      problems: many(problem).slice(0, 60),
      problem_counts: [
        { kind: 'backup_missing', severity: 'warning', count: 4000 },
        { kind: 'host_unreachable', severity: 'critical', count: 20 },
      ],
    }
    await route.fulfill({ response, json })
  })
  await visitor.open('/')
  await page.getByText('187 of 200').waitFor()
  await page.getByText('cluster-of-customer-', { exact: false }).first().waitFor()
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 720 })
    await visitor.fits(`200 clusters at ${width}`)
    await visitor.picture(`200-clusters-${width}`)
  }
  await visitor.accessible('200 clusters')
}

for (const guests of sizes) {
  test(`${guests} guests`, async () => {
    const service = await startService(inject('firstState'))
    const caller = await service.setUp()
    const cluster = await startCluster(caller, { guests, nodes: guests === 1 ? 1 : 3 })
    try {
      const all = await until('all guests are seen', async () => {
        const list = await caller.must<{ id: number; status: string }[]>('GET', '/api/v1/guests')
        return list.length === guests && list
      })
      const host = (await caller.must<{ id: number }[]>('GET', '/api/v1/hosts'))[0]!.id
      const parts = ['usage', 'capabilities', 'tasks', 'activity', 'members', 'load', 'ssh', 'settings']
      const ofGuest = ['', '/snapshots', '/backups', '/network', '/options', '/history', '/firewall', '/console']
      const paths = [
        ...['/', '/hosts', `/hosts/${host}`, ...parts.map((part) => `/hosts/${host}?part=${part}`), `/hosts/${host}/nodes/pve1`],
        ...['/hosts/enrol', '/guests', '/guests/new', ...ofGuest.map((part) => `/guests/${all[0]!.id}${part}`)],
        ...[
          '/storage',
          `/storage/${host}/local`,
          '/backups',
          '/network',
          '/firewall',
          '/catalog',
          '/apps',
          '/alerts',
          '/schedules',
          '/jobs',
        ],
      ]
      const visitor = await Visitor.arrive(browser, service.url, { colorScheme: 'light' })
      const { page } = visitor
      visitor.provokes(404, 501, 502)
      let asked = 0
      const counts = (url: string): boolean => url.includes('/api/v1/') && !url.includes('/stream')
      page.on('request', (request) => (asked += Number(counts(request.url()))))
      page.on('requestfinished', (request) => (asked -= Number(counts(request.url()))))
      page.on('requestfailed', (request) => (asked -= Number(counts(request.url()))))
      await visitor.open('/')
      await visitor.logIn()
      const wrong: string[] = []
      for (const path of paths) {
        await visitor.step(path)
        await page.getByRole('main').locator('h1, strong').first().waitFor()
        await until(`${path} is loaded`, () => asked === 0)
        const name = path.slice(1).replaceAll(/[/?=&]/g, '-') || 'overview'
        for (const [look, width] of [
          ['light', 1280],
          ['dark', 1280],
          ['light', 360],
        ] as const) {
          await page.emulateMedia({ colorScheme: look })
          await page.setViewportSize({ width, height: 720 })
          await visitor.fits(`${path} at ${width}`).catch((caught: unknown) => wrong.push(String(caught)))
          await visitor.picture(`${guests}-${name}-${look}-${width}`)
        }
        await page.emulateMedia({ colorScheme: 'light' })
        await page.setViewportSize({ width: 1280, height: 720 })
      }
      if (guests === 1) await manyClusters(visitor).catch((caught: unknown) => wrong.push(String(caught)))
      expect(wrong).toEqual([])
      await visitor.leave()
    } finally {
      await service.stop()
      await cluster.stop()
    }
  }, 900_000)
}
