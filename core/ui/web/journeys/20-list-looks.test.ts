// How the list of guests looks: a look at one beside it, columns, groups, and views that are kept as links.
import { expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { until, Visitor } from './start'

stage()

test('a look beside the list, columns, groups, views', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const { keyboard } = page
  const all = await caller.must<{ id: number; name: string; node: string }[]>('GET', '/api/v1/guests')
  await visitor.open('/guests')
  await visitor.logIn()
  const grid = page.getByRole('grid', { name: 'Guests' })
  await grid.getByRole('row').nth(1).waitFor()

  // The space key has a look at the active row, which follows from row to row; Escape takes it away and nothing else.
  await keyboard.press('j')
  await keyboard.press('Space')
  const panel = page.getByRole('complementary')
  const names = [...all].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })).map((one) => one.name)
  await panel.getByRole('heading', { name: names[0]! }).waitFor()
  await page.waitForURL((url) => url.searchParams.has('panel'))
  await visitor.accessible('a look')
  await visitor.picture('preview')
  await keyboard.press('j')
  await panel.getByRole('heading', { name: names[1]! }).waitFor()
  await page.reload()
  await panel.getByRole('heading', { name: names[0]! }).waitFor()
  await page.setViewportSize({ width: 360, height: 720 })
  await visitor.fits('a look at 360')
  await visitor.accessible('a look at 360')
  await visitor.picture('preview-360')
  await page.setViewportSize({ width: 1280, height: 720 })
  await grid.focus()
  await keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.has('panel')).toBe(false)
  expect(await page.getByRole('searchbox').inputValue()).toBe('')

  // Columns and groups are in the address.
  await page.getByRole('button', { name: 'View', exact: true }).click()
  const looks = page.getByRole('dialog', { name: 'List view' })
  await looks.getByLabel('Uptime').uncheck()
  await looks.getByLabel('Group by').selectOption('node')
  await visitor.accessible('looks')
  await visitor.picture('list-looks')
  const nodes = [...new Set(all.map((one) => one.node))]
  await grid
    .getByRole('gridcell', { name: new RegExp(`^${nodes.sort()[0]!} \\d+$`) })
    .first()
    .waitFor()
  expect(await grid.getByRole('columnheader', { name: 'Uptime' }).count()).toBe(0)
  expect(Number(await grid.getAttribute('aria-rowcount'))).toBe(all.length + nodes.length + 1)

  // A view is kept by its name, whatever that is, and its link gives the same to others.
  const name = '<b onclick=x>per node</b>'
  await looks.getByLabel('Name of this view').fill(name)
  await looks.getByRole('button', { name: 'Save view' }).click()
  await looks.getByRole('link', { name }).waitFor()
  await looks.getByLabel('Name of this view').fill(name)
  await looks.getByText('A view with this name already exists.').waitFor()
  await keyboard.press('Escape')
  // It is in another browser, too, once the service has it.
  await until('the service has the view', async () => {
    const kept = await caller.must<{ value: { views?: { name: string }[] } }>('GET', '/api/v1/auth/preferences')
    return kept.value.views?.some((view) => view.name === name)
  })
  const elsewhere = await Visitor.arrive(browser, service.url)
  await elsewhere.open('/guests')
  await elsewhere.logIn()
  await elsewhere.page.getByRole('button', { name: 'View', exact: true }).click()
  await elsewhere.page.getByRole('dialog').getByRole('link', { name }).waitFor()
  await elsewhere.leave()
  await visitor.accessible('groups')
  await visitor.picture('groups')
  const link = page.url()
  await visitor.open('/guests')
  await grid.getByRole('columnheader', { name: 'Uptime' }).waitFor()
  await page.getByRole('button', { name: 'View', exact: true }).click()
  await looks.getByRole('link', { name }).click()
  await looks.waitFor({ state: 'detached' })
  await page.waitForURL(link)
  await grid.getByRole('columnheader', { name: 'Uptime' }).waitFor({ state: 'detached' })

  // A group is no guest: nothing opens it, and selecting all of a stretch leaves it out.
  await grid.focus()
  await keyboard.press('Home')
  await keyboard.press('Enter')
  expect(new URL(page.url()).pathname).toBe('/guests')
  await keyboard.press('x')
  await keyboard.press('Shift+ArrowDown')
  await page.getByText('1 selected').waitFor()
  await page.setViewportSize({ width: 360, height: 720 })
  await visitor.fits('groups at 360')
  await visitor.picture('groups-360')
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.getByRole('button', { name: 'View', exact: true }).click()
  await looks.getByRole('button', { name: `Delete ${name}` }).click()
  await looks.getByRole('link', { name }).waitFor({ state: 'detached' })
  await visitor.leave()
})

test('all guests that the filter shows are selected, and containers are adopted', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  interface Entry {
    kind: string
    template: boolean
    app_id: number | null
  }
  const all = await caller.must<Entry[]>('GET', '/api/v1/guests')
  const containers = all.filter((one) => one.kind === 'container')
  const strangers = containers.filter((one) => one.app_id === null && !one.template)
  expect(strangers.length).toBeGreaterThan(0)
  await visitor.open('/guests')
  await visitor.logIn()
  const box = page.getByRole('checkbox', { name: 'Select all' })
  await page.getByRole('grid', { name: 'Guests' }).getByRole('row').nth(1).waitFor()
  await box.check()
  const bar = page.getByRole('group', { name: 'Selection' })
  await bar.getByText(`${all.length} selected`, { exact: true }).waitFor()
  await box.uncheck()
  await bar.waitFor({ state: 'detached' })
  await page.getByRole('searchbox').fill('is:container')
  await page.getByText(`${containers.length} of ${all.length}`).waitFor()
  await box.check()
  await bar.getByText(`${containers.length} selected`, { exact: true }).waitFor()
  await visitor.accessible('all containers')
  await visitor.picture('select-all')
  await bar.getByRole('button', { name: `Adopt ${strangers.length}` }).click()
  await page.getByText(/containers? (was|were) adopted\./).waitFor()
  await bar.getByRole('button', { name: /^Adopt/ }).waitFor({ state: 'detached' })
  const now = await caller.must<Entry[]>('GET', '/api/v1/guests')
  expect(now.filter((one) => one.app_id !== null).length).toBe(
    containers.length - containers.filter((one) => one.template).length,
  )
  await visitor.leave()
})
