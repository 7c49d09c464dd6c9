// Journey 4 by keyboard only, and at 360 px by touch.
import { expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { Visitor } from './start'

stage()

interface Entry {
  id: number
  name: string
  kind: string
  status: string
  template: boolean
}
const some = async (status: string): Promise<Entry[]> =>
  (await caller.must<Entry[]>('GET', '/api/v1/guests')).filter((g) => g.kind === 'vm' && g.status === status && !g.template)

test('by keyboard alone', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const { keyboard } = page
  const guest = (await some('stopped'))[0]!
  await visitor.open('/guests')
  await page.getByLabel('Email').focus()
  await keyboard.type('anna@example.com')
  await keyboard.press('Tab')
  await keyboard.type('seven-yellow-donkeys')
  await keyboard.press('Enter')
  await page.getByRole('grid').getByRole('row').nth(1).waitFor()

  // Found, opened, started.
  await keyboard.press('/')
  await keyboard.type(`name:${guest.name}`)
  await page.getByText(/^1 of/).waitFor()
  await keyboard.press('ArrowDown')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: guest.name }).waitFor()
  const header = page.getByRole('main').locator('header')
  await header.getByText('stopped').waitFor()
  await keyboard.press('s')
  await header.getByText('running').waitFor()

  // Its job by the palette, and back by two keys.
  await keyboard.press('Control+k')
  await keyboard.type(`vm.start ${guest.name}`)
  await keyboard.press('Enter')
  await page.getByRole('log').getByText('TASK OK').waitFor()
  await keyboard.press('g')
  await keyboard.press('g')
  await page.getByRole('heading', { name: 'Guests' }).waitFor()

  // Stopped through the menu of actions and the question.
  await keyboard.press('Control+k')
  await keyboard.type(guest.name)
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: guest.name }).waitFor()
  await keyboard.press('e')
  await page.getByRole('menu').waitFor()
  const wanted = page.getByRole('menuitem', { name: 'Force stop' })
  for (let i = 0; i < 8 && !(await wanted.evaluate((item) => item === document.activeElement)); i++)
    await keyboard.press('ArrowDown')
  await keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: `Force stop ${guest.name}` })
  await dialog.waitFor()
  await keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await keyboard.press('e')
  await page.getByRole('menu').waitFor()
  for (let i = 0; i < 8 && !(await wanted.evaluate((item) => item === document.activeElement)); i++)
    await keyboard.press('ArrowDown')
  await keyboard.press('Enter')
  await dialog.waitFor()
  const yes = dialog.getByRole('button', { name: `Force stop ${guest.name}` })
  for (let i = 0; i < 6 && !(await yes.evaluate((button) => button === document.activeElement)); i++) await keyboard.press('Tab')
  await keyboard.press('Enter')
  await header.getByText('stopped').waitFor()

  // Single keys are silent where somebody writes, and when they are switched off.
  await keyboard.press('g')
  await keyboard.press('g')
  await page.getByRole('grid').getByRole('row').nth(1).waitFor()
  await keyboard.press('/')
  await keyboard.type('gj?')
  expect(await page.getByRole('searchbox').inputValue()).toBe('gj?')
  expect(new URL(page.url()).pathname).not.toBe('/jobs')
  await visitor.leave()
})

test('at 360 px by touch', async () => {
  const visitor = await Visitor.arrive(browser, service.url, {
    viewport: { width: 360, height: 720 },
    hasTouch: true,
    isMobile: true,
  })
  const { page } = visitor
  const guest = (await some('stopped'))[1]!
  await visitor.open('/guests')
  await visitor.logIn()
  const grid = page.getByRole('grid', { name: 'Guests' })
  await grid.getByRole('row').nth(1).waitFor()
  await visitor.fits('list')
  await visitor.accessible('list')
  await visitor.picture('guests-360')
  await page.getByRole('searchbox').fill(`name:${guest.name}`)
  await page.getByText(/^1 of/).waitFor()
  await grid.getByText(guest.name).tap()
  await page.getByRole('heading', { name: guest.name }).waitFor()
  await visitor.fits('guest')
  await visitor.accessible('guest')
  await visitor.picture('guest-360')
  await page.getByRole('button', { name: 'Start', exact: true }).tap()
  const header = page.getByRole('main').locator('header')
  await header.getByText('running').waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: `vm.start ${guest.name}` })
    .first()
    .tap()
  await page.getByRole('log').getByText('TASK OK').waitFor()
  await visitor.fits('job')
  await visitor.picture('job-360')
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Guests' }).tap()
  await grid.waitFor()
  await visitor.leave()
})
