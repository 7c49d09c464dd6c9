// Every path × light and dark × owner and viewer opens without findings, on a wide screen and at 360 px.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { owner, startBrowser, startCluster, startService, Visitor, type Service, type Simulator } from './start'

const viewer = { email: 'vera@example.com', password: 'nine-purple-giraffes' }
/** A name full of markup, with a character that turns the direction of writing. */
const hostile = `<img src=x onerror="document.title='taken'">&lt;b>${String.fromCharCode(0x202e)}`

let paths: string[]

let service: Service
let browser: Browser
let cluster: Simulator
beforeAll(async () => {
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  const caller = await service.setUp()
  await caller.must('POST', '/api/v1/users', { ...viewer, role: 'viewer' })
  cluster = await startCluster(caller)
  const all = await caller.must<{ id: number; kind: string; status: string }[]>('GET', '/api/v1/guests')
  const vm = all.find((one) => one.kind === 'vm' && one.status === 'stopped')!
  const container = all.find((one) => one.kind === 'container')!
  const { job } = await caller.must<{ job: { id: number } }>('POST', `/api/v1/vms/${vm.id}/start`)
  const things = [`/guests/${vm.id}`, `/guests/${container.id}`, '/guests/999999', `/jobs/${job.id}`, '/jobs/999999']
  paths = ['/', '/guests', '/jobs', ...things, '/account', '/about', '/no-such-page']
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
  await cluster?.stop()
})

for (const [who, person] of Object.entries({ owner, viewer })) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`${who}, ${colorScheme}`, async () => {
      const visitor = await Visitor.arrive(browser, service.url, { colorScheme })
      const { page } = visitor
      visitor.provokes(404)
      // Names and texts of others are text, whatever is in them.
      await page.route(/\/api\/v1\/(guests|jobs)(\?|$)/, async (route) => {
        const response = await route.fetch()
        if (!response.ok()) return route.fulfill({ response })
        const list = (await response.json()) as {
          name?: string
          tags?: string[]
          target?: { name: string }
          last_line?: string
        }[]
        for (const one of list) {
          if (one.target) Object.assign(one, { target: { ...one.target, name: hostile }, last_line: hostile })
          else Object.assign(one, { name: hostile, tags: [hostile], node: hostile })
        }
        await route.fulfill({ response, json: list })
      })
      await visitor.open('/')
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      await visitor.accessible('log-in')
      await visitor.picture(`login-${colorScheme}`)
      await visitor.logIn(person)
      for (const path of paths) {
        await visitor.open(path)
        await page.getByRole('main').locator('h1, strong').first().waitFor()
        expect(await page.locator('img').count(), path).toBe(0)
        const name = path.slice(1).replaceAll('/', '-') || 'first'
        // In the dark only colours are others, and what is narrow is so for everybody.
        for (const width of colorScheme === 'light' && who === 'owner' ? [1280, 360] : [1280]) {
          await page.setViewportSize({ width, height: 720 })
          await visitor.accessible(`${path} at ${width}`, colorScheme === 'dark')
          await visitor.fits(`${path} at ${width}`)
          await visitor.picture(`${name}-${who}-${colorScheme}-${width}`)
        }
        await page.setViewportSize({ width: 1280, height: 720 })
      }
      // Who may not do it is told why, on the control itself.
      await visitor.open(paths[3]!)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const power = page.getByRole('button', { name: 'Shut down', exact: true })
      await power.waitFor()
      expect(await power.getAttribute('aria-disabled')).toBe(who === 'viewer' ? 'true' : null)
      if (who === 'viewer') await page.getByText('Needs the role operator here.').waitFor()
      // The palette and the list of keys, by keys alone.
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('about')
      await visitor.accessible('palette')
      await visitor.picture(`palette-${who}-${colorScheme}`)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'About' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/about')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor()
      await visitor.accessible('keys')
      await visitor.picture(`keys-${who}-${colorScheme}`)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      // The zone is switched for a look at UTC.
      await page.getByText('Europe/Berlin').waitFor()
      await page.keyboard.press('Shift+Z')
      await page.getByRole('button', { name: 'Times in UTC' }).waitFor()
      await visitor.leave()
    }, 600_000)
  }
}
