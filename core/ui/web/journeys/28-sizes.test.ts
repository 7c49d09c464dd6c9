// The overview and the pages of hosts and guests hold with one guest and with 5,000: nothing is wider than the window, and what is empty says
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
      expect(wrong).toEqual([])
      await visitor.leave()
    } finally {
      await service.stop()
      await cluster.stop()
    }
  }, 900_000)
}
