// Every path × light and dark × owner and viewer opens without findings, on a wide screen and at 360 px.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { owner, startBrowser, startService, Visitor, type Service } from './start'

const viewer = { email: 'vera@example.com', password: 'nine-purple-giraffes' }
const paths = ['/', '/account', '/about', '/no-such-page']

let service: Service
let browser: Browser
beforeAll(async () => {
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  const caller = await service.setUp()
  await caller.must('POST', '/api/v1/users', { ...viewer, role: 'viewer' })
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

for (const [who, person] of Object.entries({ owner, viewer })) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`${who}, ${colorScheme}`, async () => {
      const visitor = await Visitor.arrive(browser, service.url, { colorScheme })
      const { page } = visitor
      await visitor.open('/')
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      await visitor.accessible('log-in')
      await visitor.picture(`login-${colorScheme}`)
      await visitor.logIn(person)
      for (const path of paths) {
        await visitor.open(path)
        await page.getByRole('main').locator('h1, strong').first().waitFor()
        const name = path.replaceAll('/', '') || 'first'
        for (const width of [1280, 360]) {
          await page.setViewportSize({ width, height: 720 })
          await visitor.accessible(`${path} at ${width}`)
          await visitor.fits(`${path} at ${width}`)
          await visitor.picture(`${name}-${who}-${colorScheme}-${width}`)
        }
        await page.setViewportSize({ width: 1280, height: 720 })
      }
      // The palette and the list of keys, by keys alone.
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('abo')
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
    })
  }
}
