// Live: two tabs have one stream, whichever of them goes or freezes; the service goes and comes back; figures grow old; a part that is gone.
import { beforeAll, expect, test } from 'vitest'
import type { BrowserContext, Page } from 'playwright-core'
import { browser, caller, cluster, service, stage } from './stage'
import { until, Visitor } from './start'

stage()
beforeAll(async () => {
  await caller.must('PATCH', '/api/v1/settings', { 'poll.interval_s': 5 })
})

interface Entry {
  id: number
  vmid: number
  name: string
  kind: string
  host_id: number
  template: boolean
}
let last = 0
/** rename gives a guest a name that it never had, as the hypervisor tells of it. */
async function rename(): Promise<string> {
  const all = await caller.must<Entry[]>('GET', '/api/v1/guests')
  const one = all.find((guest) => guest.kind === 'vm' && !guest.template)!
  const name = `renamed-${++last}`
  await cluster.order({ op: 'rename', vmid: one.vmid, name })
  await caller.must('POST', `/api/v1/hosts/${one.host_id}/sync`)
  return name
}
/** shows looks at a tab, which merges only while it is hidden. */
async function shows(page: Page, name: string): Promise<void> {
  await page.bringToFront()
  await page.getByRole('grid').getByText(name, { exact: true }).first().waitFor()
}

/** streams are those that the pages of a browser have open. */
function streams(context: BrowserContext): Set<unknown> {
  const open = new Set<unknown>()
  const isStream = (url: string): boolean => url.includes('/api/v1/events/stream')
  context.on('request', (request) => isStream(request.url()) && open.add(request))
  context.on('requestfinished', (request) => open.delete(request))
  context.on('requestfailed', (request) => open.delete(request))
  return open
}

for (const locks of [true, false]) {
  test(`one stream for all tabs, ${locks ? 'by a lock' : 'without locks'}`, async () => {
    const visitor = await Visitor.arrive(browser, service.url)
    const { page: first } = visitor
    const context = first.context()
    // Only a secure context has locks: over plain HTTP the tabs agree otherwise.
    if (!locks) await context.addInitScript('delete Navigator.prototype.locks')
    const open = streams(context)
    await visitor.open('/guests?q=name:renamed*')
    await visitor.logIn()
    await until('a stream', () => open.size === 1)
    const second = await context.newPage()
    await second.goto(`${service.url}/guests?q=name:renamed*`)
    await second.getByText(/of \d+ guests/).waitFor()
    const name = await rename()
    await shows(first, name)
    await shows(second, name)
    expect(open.size).toBe(1)

    // The tab with the stream goes: the other one has it then, and misses nothing.
    await first.goto('about:blank')
    const later = await rename()
    await shows(second, later)
    await until('one stream', () => open.size === 1)

    // A tab that comes again has none of its own; the one with the stream is frozen, and gives it up.
    await visitor.open('/guests?q=name:renamed*')
    await shows(first, later)
    expect(open.size).toBe(1)
    const session = await context.newCDPSession(second)
    await first.bringToFront()
    await session.send('Page.setWebLifecycleState', { state: 'frozen' })
    const frozen = await rename()
    await shows(first, frozen)
    await session.send('Page.setWebLifecycleState', { state: 'active' })
    await shows(second, frozen)
    await until('one stream', () => open.size === 1)
    const after = await rename()
    await shows(first, after)
    await shows(second, after)
    await second.close()
    await visitor.leave()
  })
}

test('the service goes and comes back, and what is old looks so', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(502, 503)
  visitor.cuts()
  await visitor.open('/guests')
  await visitor.logIn()
  await page.getByRole('grid').getByRole('row').nth(3).waitFor()
  const old = page.locator('[role=gridcell] .old')
  const figures = page.getByRole('gridcell', { name: /^\d+\.\d %$/ })
  await figures.first().waitFor()
  expect(await old.filter({ hasText: '%' }).count()).toBe(0)
  const again = await service.pause()
  await page.getByText(/^No live updates since/).waitFor()
  // All rows stay, and their figures grow old.
  await old.filter({ hasText: '%' }).first().waitFor()
  expect(await figures.count()).toBeGreaterThan(0)
  await visitor.accessible('not live')
  await visitor.picture('not-live')
  await again()
  await page.getByText(/^No live updates since/).waitFor({ state: 'detached' })
  await until('the figures are new', async () => (await old.filter({ hasText: '%' }).count()) === 0)
  const name = await rename()
  await page.getByRole('searchbox').fill(`name:${name}`)
  await shows(page, name)

  // Another version of the service offers its page.
  await page.evaluate(() => {
    const state = { type: 'state', live: true, since: Date.now(), interval: 5, last: '' }
    new BroadcastChannel('hostler.feed').postMessage({ ...state, version: '99.0.0' })
  })
  await page.getByText('The service was updated.').waitFor()
  await visitor.picture('another-version')
  await page.getByRole('button', { name: 'Reload the page' }).click()
  await page.getByText('The service was updated.').waitFor({ state: 'detached' })
  await visitor.leave()
})

test('a poll renews the figures and the age of a node, and leaves its storage', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const [host] = await caller.must<{ id: number }[]>('GET', '/api/v1/hosts')
  await visitor.open(`/hosts/${host!.id}`)
  await visitor.logIn()
  const main = page.getByRole('main')
  const row = main.getByRole('row').filter({ has: page.getByRole('link', { name: 'pve1' }) })
  const storage = row.getByRole('cell').nth(3)
  const times = (): Promise<(string | null)[]> =>
    Promise.all([row.locator('time').last(), main.locator('dl time').first()].map((one) => one.getAttribute('datetime')))
  const [before, told] = [await times(), await storage.textContent()]
  expect(told).toContain('%')
  await until('two polls are seen', async () => {
    const now = await times()
    return now.every((one, i) => Date.parse(one!) > Date.parse(before[i]!) + 6000)
  })
  expect(await storage.textContent()).toBe(told)
  await visitor.leave()
})

test('a part of the page that is gone is loaded anew, once', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(404)
  await visitor.open('/guests')
  await visitor.logIn()
  await page.getByRole('grid').getByRole('row').nth(1).waitFor()
  let loads = 0
  page.on('domcontentloaded', () => loads++)
  const gone = { status: 404, contentType: 'text/plain', body: 'gone' }
  await page.route(/assets\/Jobs-/, (route) => (loads ? route.continue() : route.fulfill(gone)))
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Jobs' }).click()
  await page.getByRole('heading', { name: 'Jobs' }).waitFor()
  expect(loads).toBe(1)
  // Where that does not help it is said, and the page is not loaded for ever.
  await page.route(/assets\/About-/, (route) => route.fulfill(gone))
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'About' }).click()
  await page.getByRole('alert').waitFor()
  expect(loads).toBeLessThanOrEqual(2)
  await page.unroute(/assets\/About-/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'About' }).waitFor()
  await visitor.leave()
})
