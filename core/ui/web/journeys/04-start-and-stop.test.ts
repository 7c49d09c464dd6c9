// Start, stop, a job to its end, cancel. Nothing is shown before the hypervisor has said so.
import { expect, test } from 'vitest'
import { browser, caller, cluster, service, stage } from './stage'
import { Visitor } from './start'

stage()

interface Entry {
  id: number
  vmid: number
  name: string
  kind: string
  status: string
  template: boolean
}
const one = async (status: string): Promise<Entry> =>
  (await caller.must<Entry[]>('GET', '/api/v1/guests')).find((g) => g.kind === 'vm' && g.status === status && !g.template)!

test('start, stop, cancel', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const status = page.getByRole('main').locator('header')
  const stopped = await one('stopped')
  await visitor.open(`/guests/${stopped.id}`)
  await visitor.logIn()
  await page.getByRole('heading', { name: stopped.name }).waitFor()
  await status.getByText('stopped').waitFor()
  await visitor.picture('guest-stopped')

  // Start: a job, which the page follows to its end.
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await page.getByText(`Start ${stopped.name}: succeeded.`).waitFor()
  await status.getByText('running').waitFor()
  await visitor.accessible('started')
  await visitor.picture('guest-running')

  // Its transcript.
  await page
    .getByRole('main')
    .getByRole('link', { name: `vm.start ${stopped.name}` })
    .first()
    .click()
  await page.getByRole('heading', { name: `vm.start ${stopped.name}` }).waitFor()
  await page.getByRole('log').getByText('TASK OK').waitFor()
  await page.getByRole('main').locator('header').getByText('succeeded').waitFor()
  expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0)
  await visitor.accessible('job')
  await visitor.picture('job')
  await page.getByRole('searchbox', { name: 'Search in the log' }).fill('task ok')
  await page.getByText('1 line found').waitFor()

  // Force stop: asked about, with what is lost. Leaving it does nothing.
  await page.getByRole('main').getByRole('link', { name: stopped.name }).click()
  const more = page.getByRole('button', { name: `Actions for ${stopped.name}` })
  await more.click()
  await page.getByRole('menuitem', { name: 'Force stop' }).click()
  const dialog = page.getByRole('dialog', { name: `Force stop ${stopped.name}` })
  await dialog.waitFor()
  await visitor.accessible('asked about')
  await visitor.picture('stop-asked')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await more.click()
  await page.getByRole('menuitem', { name: 'Force stop' }).click()
  await dialog.getByRole('button', { name: `Force stop ${stopped.name}` }).click()
  await status.getByText('stopped').waitFor()

  // Cancel a job that takes long: the guest does not heed the shutdown.
  const running = await one('running')
  await cluster.order({ op: 'set', vmid: running.vmid, ignore_shutdown: true })
  await visitor.open(`/guests/${running.id}`)
  await page.getByRole('button', { name: 'Shut down', exact: true }).click()
  await page.getByRole('button', { name: /^Jobs/ }).click()
  await page
    .getByRole('dialog', { name: 'Jobs' })
    .getByRole('link', { name: `vm.shutdown ${running.name}` })
    .waitFor()
  await visitor.accessible('tray')
  await visitor.picture('tray')
  await page
    .getByRole('dialog', { name: 'Jobs' })
    .getByRole('link', { name: `vm.shutdown ${running.name}` })
    .click()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Retry' }).waitFor()
  await page.getByRole('main').locator('header').getByText('canceled').waitFor()
  await visitor.open(`/guests/${running.id}`)
  await status.getByText('running').waitFor()

  // What somebody else does is seen without a reload.
  await visitor.open('/guests')
  await page.getByRole('searchbox').fill(`name:${running.name}`)
  const row = page.getByRole('grid').getByRole('row').filter({ hasText: running.name })
  await row.getByText('running').waitFor()
  await caller.must('POST', `/api/v1/vms/${running.id}/stop`)
  await row.getByText('stopped').waitFor()
  expect(await row.count()).toBe(1)
  await visitor.leave()
})
