// Takes the screenshots of the README, in the light and in the dark theme, from a service that make run has started. CONTRIBUTING.md has
// the command.
import { join, resolve } from 'node:path'
import { chromium } from 'playwright-core'
import { chromium as executablePath } from './chromium.ts'

const [url, password, path = '/guests'] = process.argv.slice(2)
if (!url || !password) throw new Error('usage: node screenshots.ts ADDRESS PASSWORD [PATH]')
const folder = resolve(import.meta.dirname, '../../../docs/images')

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
for (const colorScheme of ['light', 'dark'] as const) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme,
    timezoneId: 'UTC',
    locale: 'en-GB',
  })
  const page = await context.newPage()
  await page.goto(url + path)
  await page.locator('input[name=username]').fill('owner@example.com')
  await page.locator('input[name=password]').fill(password)
  await page.locator('form button[type=submit]').click()
  await page.getByRole('banner').waitFor()
  await page.waitForLoadState('networkidle').catch(() => undefined)
  await page.mouse.move(700, 20) // off the list, where it would mark a row
  await page.waitForTimeout(3000) // figures come after the list
  await page.screenshot({ path: join(folder, `page-${colorScheme}.png`) })
}
await browser.close()
