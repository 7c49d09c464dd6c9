// A schedule is written by a form that is made of its kind's schema, run at once, paused, changed and deleted.
import { expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { Visitor } from './start'

const hostile = `<img src=x onerror="document.title='taken'">`

stage()

test('a schedule', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(422)
  const all = await caller.must<{ name: string; kind: string; status: string; template: boolean }[]>('GET', '/api/v1/guests')
  const vm = all.find((one) => one.kind === 'vm' && one.status === 'running' && !one.template)!
  await visitor.open('/schedules')
  await visitor.logIn()
  await page.getByRole('heading', { name: 'Prune old jobs' }).waitFor()
  await page.getByText('At 02:40').waitFor()

  // What is wrong is told at its field, the focus is on the first.
  await page.getByRole('button', { name: 'Add schedule' }).click()
  const form = page.getByRole('dialog', { name: 'Add schedule' })
  await form.getByLabel('Action').selectOption('vm.snapshot_create')
  const name = form.getByLabel('Name', { exact: true })
  await name.fill(hostile)
  const cron = form.getByLabel('Cron expression')
  await cron.fill('0 0 31 2 *')
  await form.getByText('never matches').waitFor()
  await cron.fill('30 2 * * MON-FRI')
  await form.getByText('At 02:30, Monday through Friday').waitFor()
  await form.getByLabel('Time zone').selectOption('America/New_York')
  const next = form.getByRole('table', { name: 'Next runs' })
  await next.getByRole('columnheader', { name: 'in America/New_York' }).waitFor()
  await next.getByRole('columnheader', { name: 'in Europe/Berlin' }).waitFor()
  expect(await next.getByRole('row').count()).toBe(6)
  const inner = form.getByLabel('name', { exact: true }).last()
  await inner.fill('not a name')
  await form.getByLabel('vm id (optional)').selectOption(vm.name)
  await form.getByRole('button', { name: 'Save schedule' }).click()
  await form.getByText('Some fields are not valid.').waitFor()
  expect(await inner.getAttribute('aria-invalid')).toBe('true')
  await visitor.accessible('a form with a fault')
  await visitor.picture('schedule-fault')
  await inner.fill('nightly')
  await form.getByRole('button', { name: 'As a command' }).click()
  await form.getByText(/^curl .*vm\.snapshot_create/).waitFor()
  await form.getByRole('button', { name: 'Save schedule' }).click()
  await form.waitFor({ state: 'detached' })

  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: hostile }) })
  await card.getByText('with the permissions of anna@example.com').waitFor()
  await card.getByRole('button', { name: 'Next runs' }).click()
  await card.getByRole('table', { name: 'Next runs' }).waitFor()
  await visitor.accessible('schedules')
  await visitor.picture('schedules')

  // An extra run is a job.
  await card.getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('status').getByRole('link', { name: 'Show job' }).click()
  await page.getByRole('heading', { name: `vm.snapshot_create ${vm.name}` }).waitFor()
  await page.getByRole('main').locator('header').getByText('succeeded').waitFor()

  await visitor.open('/schedules')
  const choose = async (act: string): Promise<void> => {
    await card.getByRole('button', { name: `Actions for ${hostile}` }).click()
    await page.getByRole('menuitem', { name: act }).click()
  }
  await choose('Pause')
  await card.getByText('Paused.').waitFor()
  await choose('Edit schedule')
  const change = page.getByRole('dialog', { name: 'Edit schedule' })
  expect(await change.getByLabel('vm id (optional)').locator('option:checked').textContent()).toBe(vm.name)
  await change.getByLabel('Cron expression').fill('0 4 * * *')
  await change.getByRole('button', { name: 'Save schedule' }).click()
  await card.getByText('At 04:00').waitFor()
  await card.getByText('Paused.').waitFor()
  await choose('Delete schedule')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete schedule' }).click()
  await card.waitFor({ state: 'detached' })
  await visitor.leave()
})
