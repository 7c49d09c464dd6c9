// The service restarts, a host dies, the stream breaks: the page says so, stays usable, loses nothing, and heals by itself.
import { beforeAll, expect, test } from 'vitest'
import { browser, caller, cluster, service, stage } from './stage'
import { Visitor } from './start'

stage()
beforeAll(async () => {
  await caller.must('PATCH', '/api/v1/settings', { 'poll.interval_s': 5 })
})

const stale = /No live updates since/

test('the service restarts', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  visitor.cuts()
  const { page } = visitor
  // What is asked while nobody answers fails; the page says so itself.
  visitor.provokes(502, 503, 504)
  await visitor.open('/settings')
  await visitor.logIn()
  // Something is typed and not saved.
  const keep = page.getByLabel('jobs.keep_days')
  await keep.fill('0')
  await page.getByText('1 to 36500').first().waitFor()
  expect(await keep.getAttribute('aria-invalid')).toBe('true')
  await keep.fill('45')
  await page.getByRole('region', { name: 'Changes' }).getByRole('row').filter({ hasText: 'jobs.keep_days' }).waitFor()
  await visitor.picture('settings-changed')

  const begin = await service.pause()
  await page.getByText(stale).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The service does not respond.').waitFor()
  await visitor.accessible('without the service')
  await visitor.picture('settings-away')
  await begin()
  await page.getByText(stale).waitFor({ state: 'detached' })
  // What was typed is still there, and goes through now.
  expect(await keep.inputValue()).toBe('45')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.getByText('set by anna@example.com').first().waitFor()
  await page.reload()
  await expect.poll(() => keep.inputValue()).toBe('45')

  // The update's page, where one expects a restart, goes on by itself.
  await page.getByRole('main').getByRole('link', { name: 'Update' }).click()
  await page.getByRole('heading', { name: 'Last update' }).waitFor()
  const update = page.getByRole('button', { name: 'Update', exact: true })
  expect(await update.getAttribute('aria-disabled')).toBe('true')
  await visitor.picture('update')
  let state = 'running'
  await page.route('**/api/v1/meta/update', async (route) => {
    if (state === 'away') return route.abort()
    const response = await route.fetch()
    const at = new Date().toISOString()
    const step = { step: 'backup', started_at: at, ended_at: null }
    const reason = '<img src=x onerror=alert(1)>'
    const run = {
      id: 'r',
      request: 'q',
      requested_by: 'anna@example.com',
      from: '1.4.0',
      to: '1.5.0',
      step: 'backup',
      steps: [step],
      reason,
    }
    const told = { state, run: { ...run, started_at: at, finished_at: state === 'done' ? at : null, dry_run: false } }
    return route.fulfill({ response, json: { ...((await response.json()) as object), ...told } })
  })
  await page.reload()
  await page.getByText('In progress.', { exact: true }).waitFor()
  await page.getByRole('list', { name: 'Steps' }).getByText('backup').waitFor()
  await page.getByText('An update is in progress.').waitFor()
  await visitor.accessible('an update that runs')
  await visitor.picture('update-running')
  state = 'away'
  await page.getByText('The service does not respond and may be restarting.').waitFor()
  await page.getByText('In progress.', { exact: true }).waitFor()
  await visitor.picture('update-away')
  state = 'done'
  await page.getByText('Done.', { exact: true }).waitFor()
  await page.getByText('The service does not respond').waitFor({ state: 'detached' })
  await visitor.leave()
})

test('a host dies and the stream breaks', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  visitor.cuts()
  const { page } = visitor
  const all = await caller.must<{ id: number; name: string; kind: string; status: string }[]>('GET', '/api/v1/guests')
  const guest = all.find((one) => one.kind === 'vm' && one.status === 'running')!
  await visitor.open(`/guests/${guest.id}`)
  await visitor.logIn()
  const head = page.getByRole('main').locator('header')
  await head.getByText('running').waitFor()
  await cluster.cut()
  await page.getByText('The host does not respond.').waitFor({ timeout: 120_000 })
  await page.getByRole('heading', { name: guest.name }).waitFor()
  await visitor.accessible('the host is dead')
  await visitor.picture('host-dead')
  await cluster.mend()
  await head.getByText('running').waitFor({ timeout: 120_000 })
  await page.getByText('The host does not respond.').waitFor({ state: 'detached' })

  // Without a network nothing that was there disappears.
  await page.context().setOffline(true)
  const begin = await service.pause()
  await page.getByText(stale).waitFor()
  await page.getByRole('heading', { name: guest.name }).waitFor()
  await begin()
  await page.context().setOffline(false)
  await page.getByText(stale).waitFor({ state: 'detached' })
  // What happened meanwhile and happens from now on is seen.
  await caller.must('POST', `/api/v1/vms/${guest.id}/stop`)
  await head.getByText('stopped').waitFor()
  await visitor.leave()
})
