// An alert fires and stands on the page by itself, is acknowledged, says why; a rule is tried on the past before it is made; a channel is
// tested and told; a viewer sees, and may not.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { until, Visitor } from './start'

const viewer = { email: 'vera@example.com', password: 'nine-purple-giraffes' }
/** Texts of people are text, whatever is in them. */
const hostile = `<img src=x onerror="document.title='taken'">`
const secret = 'canary-of-the-journey'

interface Guest {
  id: number
  name: string
  kind: string
  status: string
  template: boolean
}
interface Alert {
  id: number
  rule: string
  target: { name: string }
  acknowledged_at: string | null
}

/** The receiver of the channel's messages; answers is what it says to each. */
let receiver: Server
let got: { title: string; state: string; signed: boolean }[] = []
let answers = 200
let at: string

stage()
beforeAll(async () => {
  await caller.must('PATCH', '/api/v1/settings', { 'poll.interval_s': 5 })
  // What the simulated cluster lacks is not of this journey.
  const rules = await caller.must<{ id: number }[]>('GET', '/api/v1/alert-rules?per_page=500')
  for (const { id } of rules) await caller.must('PATCH', `/api/v1/alert-rules/${id}`, { enabled: false })
  await caller.must('POST', '/api/v1/users', { ...viewer, role: 'viewer' })
  receiver = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part))
    request.on('end', () => {
      const body = JSON.parse(text) as { type?: string; data?: { title?: string } }
      got.push({ title: JSON.stringify(body), state: body.type ?? '', signed: 'webhook-signature' in request.headers })
      response.writeHead(answers).end()
    })
  })
  await new Promise<void>((go) => receiver.listen(0, '127.0.0.1', go))
  at = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
})
afterAll(() => {
  receiver.close()
})

const running = async (): Promise<Guest[]> =>
  (await caller.must<Guest[]>('GET', '/api/v1/guests')).filter(
    (one) => one.kind === 'vm' && one.status === 'running' && !one.template,
  )
const openOf = async (rule: string): Promise<Alert[]> =>
  (await caller.must<Alert[]>('GET', '/api/v1/alerts?state=open&per_page=500')).filter((one) => one.rule === rule)

test('a channel is made, tested, and told', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  visitor.provokes(422)
  await visitor.open('/alerts')
  await visitor.logIn()
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await main.getByText('No open alerts.').waitFor()
  await visitor.accessible('no alerts')
  await visitor.picture('alerts-none')
  await main.getByRole('link', { name: 'Channels' }).click()
  await main.getByText('No channels. Notifications').waitFor()
  await main.getByRole('button', { name: 'Create channel' }).first().click()
  const form = page.getByRole('dialog', { name: 'Create channel' })
  await form.getByLabel('Type', { exact: true }).selectOption('webhook')
  await form.getByLabel('Name').fill(hostile)

  // What is wrong is told at its field.
  await form.getByLabel('URL').fill('ftp://nowhere')
  await form.getByRole('button', { name: 'Save channel' }).click()
  await form.getByText('Please correct:').waitFor()
  expect(await form.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
  await visitor.accessible('a channel with a fault')
  await visitor.picture('channel-fault')
  await form.getByLabel('URL').fill(at)
  await form.getByLabel('Signing key (optional)').fill(secret)
  await form.getByLabel('Use quiet hours').check()
  await form.getByLabel('To', { exact: true }).fill('06:30')
  await form.getByRole('button', { name: 'Add a route' }).click()
  await form.getByLabel('Minimum severity').selectOption('warning')
  await form.getByRole('button', { name: 'As a command' }).click()
  const line = await form.getByText(/^curl /).textContent()
  expect(line).toContain('"secret":"…"')
  await visitor.picture('channel-new')
  await form.getByRole('button', { name: 'Save channel' }).click()
  await form.waitFor({ state: 'detached' })
  const card = main.getByRole('listitem').filter({ has: page.getByRole('heading', { name: hostile }) })
  await card.getByText('No deliveries yet.').waitFor()
  await card.getByText('to 06:30').waitFor()
  expect(await page.content()).not.toContain(secret)

  // A test, and what became of it in words.
  const send = card.getByRole('button', { name: `Send test to ${hostile}` })
  await send.click()
  await card.getByText('The receiver accepted the test message.').waitFor()
  expect(got.map((one) => one.signed)).toEqual([true])
  answers = 503
  await send.click()
  await card.getByText('The receiver did not accept the test message.').waitFor()
  await card.getByText('the receiver answered 503 Service Unavailable').first().waitFor()
  await visitor.accessible('a test that failed')
  await visitor.picture('channel-test')
  answers = 200

  // Quiet hours would hold what is told next.
  await card.getByRole('button', { name: `Actions for ${hostile}` }).click()
  await page.getByRole('menuitem', { name: 'Edit channel' }).click()
  const change = page.getByRole('dialog', { name: `Edit ${hostile}` })
  await change.getByText('A value is stored. Type to replace it.').waitFor()
  await change.getByLabel('Use quiet hours').uncheck()
  await change.getByRole('button', { name: 'Save channel' }).click()
  await change.waitFor({ state: 'detached' })
  await main.getByRole('link', { name: 'Delivery log' }).click()
  const rows = main.getByRole('row').filter({ hasText: 'Test of the channel' })
  await until('both tests are listed', async () => (await rows.count()) === 2)
  await main.getByText('the receiver answered 503').waitFor()
  await visitor.accessible('messages')
  await visitor.picture('deliveries')
  await visitor.leave()
})

test('a rule is tried on the past, and its alert comes by itself', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  const [first, second] = await running()
  got = []
  // There is a history to look at.
  const values = async (): Promise<boolean> => {
    const query = `target=vm:${first!.id}&target=vm:${second!.id}&metric=cpu`
    const found = await caller.must<{ series: { points: (number | null)[] }[] }>('GET', `/api/v1/metrics/query?${query}`)
    return found.series.length === 2 && found.series.every((one) => one.points.some((value) => value !== null))
  }
  await until('something is measured', values)
  await visitor.open('/alerts/rules')
  await visitor.logIn()
  await main.getByRole('heading', { name: 'Host does not answer' }).waitFor()
  await visitor.accessible('rules')
  await visitor.picture('rules')
  await main.getByRole('button', { name: 'Create rule' }).click()
  const form = page.getByRole('dialog', { name: 'Create rule' })
  await form.getByLabel('Name').fill('busy')
  await form.getByLabel('Condition').selectOption('CPU usage')
  await form.getByRole('button', { name: 'Save rule' }).click()
  await form.getByText('Please correct:').waitFor()
  await form.getByText('Enter a number.').first().waitFor()
  await form.getByLabel(/^Threshold/).fill('0.001')
  await form.getByLabel('Minimum duration (minutes)').fill('0')
  await form.getByRole('combobox', { name: 'Specific objects (optional)' }).fill(`vm:${first!.id}, vm:${second!.id}`)
  await page.keyboard.press('Tab')
  // A service that has just begun has no week behind it: the values of its answer are put in.
  await page.route(/\/metrics\/query\?/, async (route) => {
    const response = await route.fetch()
    const found = (await response.json()) as { series: { target: string; points: (number | null)[] }[] }
    for (const one of found.series)
      one.points = one.points.map((_, i) => (one.target === `vm:${first!.id}` && [100, 101, 300].includes(i) ? 0.9 : 0))
    await route.fulfill({ response, json: found })
  })
  await form.getByRole('button', { name: 'Check the last week' }).click()
  await form.getByText('2 objects checked.').waitFor()
  await form.getByText('It would have raised 2 alerts in the last week').waitFor()
  const tried = form.getByRole('table', { name: 'This rule in the last week' })
  expect((await tried.getByRole('row').filter({ hasText: first!.name }).getByRole('cell').allTextContents())[0]).toBe('2')
  expect(await tried.getByRole('row').count()).toBe(2)
  // The levels are tried without asking again.
  await form.getByLabel('Minimum duration (minutes)').fill('60')
  await form.getByText('It would have raised no alerts in the last week.').waitFor()
  await form.getByLabel('Minimum duration (minutes)').fill('0')
  await visitor.accessible('a rule with its preview')
  await visitor.picture('rule-preview')
  // A kind that is so or not has no threshold.
  await form.getByLabel('Condition').selectOption('The host does not respond')
  expect(await form.getByLabel(/^Threshold/).count()).toBe(0)
  await form.getByText('The scope has changed. Check again.').waitFor()
  await form.getByLabel('Condition').selectOption('CPU usage')
  await form.getByLabel(/^Threshold/).fill('0.001')

  // The list of alerts is looked at while the rule is made.
  const watcher = await Visitor.arrive(browser, service.url)
  await watcher.open('/alerts')
  await watcher.logIn()
  await watcher.page.getByText('No open alerts.').waitFor()
  await watcher.page.evaluate(() => Object.assign(globalThis, { same: true }))
  await form.getByRole('button', { name: 'Save rule' }).click()
  await form.waitFor({ state: 'detached' })
  await main.getByRole('heading', { name: 'busy', exact: true }).waitFor()
  const list = watcher.page.getByRole('main')
  const row = list.getByRole('row').filter({ has: watcher.page.getByRole('link', { name: first!.name, exact: true }) })
  await row.waitFor({ timeout: 180_000 })
  await list
    .getByRole('row')
    .filter({ has: watcher.page.getByRole('link', { name: second!.name, exact: true }) })
    .waitFor({ timeout: 180_000 })
  await watcher.page.getByRole('banner').getByText('2 open alerts that nobody has acknowledged').waitFor()
  await watcher.accessible('open alerts')
  await watcher.picture('alerts-open')

  // Filtered, in the address.
  const field = list.getByRole('searchbox')
  await field.fill(first!.name)
  await watcher.page.waitForURL(/q=/)
  await watcher.page.keyboard.press('ArrowDown')
  await field.fill('nothing is called so')
  await list.getByText('No matches.').waitFor()
  await list.getByRole('button', { name: 'Clear filter' }).click()

  // All at once: selected by keys, acknowledged with a note.
  await row.getByRole('link', { name: first!.name }).focus()
  await watcher.page.keyboard.press('x')
  await list.getByText('1 selected').waitFor()
  await list.getByRole('checkbox', { name: `Select ${second!.name}` }).check()
  const bar = list.getByRole('group', { name: 'Selected' })
  await bar.getByRole('button', { name: 'Acknowledge' }).click()
  const both = watcher.page.getByRole('dialog', { name: 'Acknowledge 2 alerts' })
  await both.getByLabel('Note (optional)').fill(hostile)
  await watcher.accessible('acknowledge')
  await watcher.picture('alerts-acknowledge')
  await both.getByRole('button', { name: 'Acknowledge', exact: true }).click()
  await list.getByText('No open alerts.').waitFor()
  await watcher.page.getByText('2 acknowledged.').waitFor()
  await list.getByRole('button', { name: /^Acknowledged/ }).click()
  await row.getByText(`Acknowledged by anna@example.com`).waitFor()
  await row.getByText(hostile).waitFor()
  expect((await openOf('busy')).every((one) => one.acknowledged_at !== null)).toBe(true)

  // Why: the values with the threshold, on a chart and as a table, and who was told.
  await row.getByRole('link', { name: first!.name, exact: true }).click()
  await list.getByRole('heading', { level: 1, name: first!.name }).waitFor()
  await list.getByRole('img', { name: new RegExp(`^${first!.name} around the alert: Value: .*Threshold: last 0.0 %`) }).waitFor()
  await list.getByText('Acknowledged by anna@example.com').first().waitFor()
  await until('the channel was told', () => got.some((one) => one.title.includes(first!.name)))
  await watcher.page.reload()
  await list.getByRole('region', { name: 'Notifications' }).getByText('sent').waitFor()
  await watcher.accessible('an alert')
  await watcher.picture('alert')
  await watcher.page.keyboard.press('t')
  await list
    .getByRole('group', { name: `${first!.name} around the alert` })
    .getByRole('columnheader', { name: 'threshold' })
    .waitFor()
  await watcher.picture('alert-table')
  await watcher.page.setViewportSize({ width: 360, height: 720 })
  await watcher.fits('an alert at 360')
  await watcher.picture('alert-360')
  await watcher.page.setViewportSize({ width: 1280, height: 720 })

  // Silenced for a while, and the silence ended.
  await list.getByRole('button', { name: 'Silence', exact: true }).click()
  const silence = watcher.page.getByRole('dialog', { name: `Silence ${first!.name}` })
  await silence.getByLabel('Duration').selectOption('1 day')
  await silence.getByRole('button', { name: 'Silence', exact: true }).click()
  await list.getByText('Silenced by anna@example.com until').first().waitFor()

  // The guest's own page tells of it, and so does the overview.
  await watcher.open(`/guests/${first!.id}`)
  await list.getByRole('list', { name: 'Open alerts' }).getByRole('link').first().click()
  await list.getByRole('heading', { level: 1, name: first!.name }).waitFor()

  // Resolved by hand it is over, here and in the list.
  await list.getByRole('button', { name: 'Resolve', exact: true }).click()
  const over = watcher.page.getByRole('dialog', { name: `Resolve ${first!.name}` })
  await over.getByLabel('Note (optional)').fill('on purpose')
  await over.getByRole('button', { name: 'Resolve', exact: true }).click()
  await list.getByText('Resolved by anna@example.com').first().waitFor()
  await watcher.open('/alerts?state=resolved')
  await list.getByRole('row').filter({ hasText: first!.name }).getByText('on purpose').waitFor()
  await watcher.picture('alerts-resolved')
  await watcher.leave()

  // A rule that is switched off ends what is open of it.
  const card = main.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'busy', exact: true }) })
  await card.getByRole('button', { name: 'Actions for busy' }).click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await card.getByText('Disabled.').waitFor()
  await until('its alerts are over', async () => (await openOf('busy')).length === 0)
  await card.getByRole('button', { name: 'Actions for busy' }).click()
  await page.getByRole('menuitem', { name: 'Delete rule' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click()
  await card.waitFor({ state: 'detached' })
  await visitor.leave()
}, 900_000)

test('a maintenance window', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  visitor.provokes(422)
  await visitor.open('/alerts/windows')
  await visitor.logIn()
  await main.getByText('No maintenance windows.').waitFor()
  await main.getByRole('button', { name: 'Create window' }).click()
  const form = page.getByRole('dialog', { name: 'Create window' })
  await form.getByLabel('Name').fill(hostile)
  await form.getByLabel('To', { exact: true }).fill('2020-01-01T00:00')
  await form.getByRole('button', { name: 'Save window' }).click()
  await form.getByText('Please correct:').waitFor()
  await form.getByLabel('Schedule', { exact: true }).selectOption('again')
  await form.getByLabel('Starts at').fill('* * * * *')
  await form.getByText('Every minute').waitFor()
  await form.getByRole('table', { name: 'Next runs' }).waitFor()
  await visitor.accessible('a window')
  await visitor.picture('window-new')
  await form.getByRole('button', { name: 'Save window' }).click()
  await form.waitFor({ state: 'detached' })
  const card = main.getByRole('listitem').filter({ has: page.getByRole('heading', { name: hostile }) })
  await card.getByText('Active now').waitFor()
  await visitor.accessible('windows')
  await visitor.picture('windows')
  await card.getByRole('button', { name: `Actions for ${hostile}` }).click()
  await page.getByRole('menuitem', { name: 'Delete window' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete window' }).click()
  await card.waitFor({ state: 'detached' })
  await visitor.leave()
})

test('a viewer sees, and may not', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  await visitor.open('/alerts?state=resolved')
  await visitor.logIn(viewer)
  await main.getByRole('row').filter({ hasText: 'on purpose' }).waitFor()
  await main.getByRole('link', { name: 'Rules' }).click()
  await main.getByText('Requires the role admin here.').waitFor()
  expect(await main.getByRole('button', { name: 'Create rule' }).getAttribute('aria-disabled')).toBe('true')
  const parts = main.getByRole('navigation', { name: 'Alert sections' })
  expect(await parts.getByRole('link').allTextContents()).toEqual(['Alerts', 'Alert rules', 'Maintenance windows'])
  await visitor.open('/alerts/channels')
  await main.getByText('Requires the role admin here.').waitFor()
  const resolved = await caller.must<Alert[]>('GET', '/api/v1/alerts?state=resolved')
  await visitor.open(`/alerts/${resolved[0]!.id}`)
  await main.getByRole('heading', { level: 1, name: resolved[0]!.target.name }).waitFor()
  expect(await main.getByRole('region', { name: 'Notifications' }).count()).toBe(0)
  await visitor.leave()
})
