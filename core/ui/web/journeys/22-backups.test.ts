// Backups: every guest with its last good one, what is too old first; backed up, protected, restored beside and over, deleted.
import { beforeAll, expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { until, Visitor } from './start'

/** Texts of others are text, whatever is in them. */
const hostile = `<img src=x onerror="document.title='taken'">${String.fromCharCode(0x202e)}${'long '.repeat(2000)}`

stage()
beforeAll(async () => {
  await caller.must('PATCH', '/api/v1/settings', { 'poll.interval_s': 5 })
})

interface Entry {
  id: number
  name: string
  kind: string
  status: string
  vmid: number
  backup_at: string | null
}
const all = (): Promise<Entry[]> => caller.must<Entry[]>('GET', '/api/v1/guests')
const stopped = async (): Promise<Entry> => (await all()).find((one) => one.kind === 'vm' && one.status === 'stopped')!

test('of one guest', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await stopped()
  await visitor.open(`/guests/${guest.id}/backups`)
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByText('No backups.').waitFor()
  await visitor.accessible('no backups')
  await visitor.picture('backups-none')

  // Backed up now, on a storage of the node that holds backups.
  await main.getByRole('button', { name: 'Back up now' }).click()
  const running = page.getByRole('dialog', { name: `Back up ${guest.name}` })
  await running.getByLabel('Storage').selectOption('local')
  await running.getByLabel('Notes').fill('<b>before</b> the upgrade')
  await running.getByRole('button', { name: 'As a command' }).click()
  await visitor.accessible('back up')
  await visitor.picture('backup-run')
  await running.getByRole('button', { name: 'Back up', exact: true }).click()
  await page.getByText(`Back up ${guest.name}: succeeded.`).waitFor()
  const row = main.getByRole('row').filter({ hasText: '<b>before</b> the upgrade' })
  await row.waitFor()
  await visitor.accessible('one backup')
  await visitor.picture('backups-one')

  // A protected one is not deleted.
  const more = row.getByRole('button', { name: /^Actions for the backup/ })
  const choose = async (name: string): Promise<void> => {
    await more.click()
    await page.getByRole('menuitem', { name, exact: true }).click()
  }
  await choose('Protect')
  await row.getByText('protected', { exact: true }).waitFor()
  await more.click()
  await page.getByRole('menuitem', { name: 'Delete backup This backup is protected. Remove the protection first.' }).waitFor()
  await page.keyboard.press('Escape')

  // Beside it: a new guest under a number that is free.
  await choose('Restore')
  const restoring = page.getByRole('dialog', { name: `Restore ${guest.name}` })
  await restoring.getByText(/^\d+ is free\.$/).waitFor()
  await visitor.accessible('restore beside')
  await visitor.picture('restore-beside')
  visitor.provokes(422)
  await restoring.getByLabel('VMID').fill(String(guest.vmid))
  await restoring.getByRole('button', { name: 'Restore', exact: true }).click()
  await restoring.getByText('Please correct:').waitFor()
  await restoring.getByLabel('VMID').fill('7777')
  await restoring.getByLabel('Name of the new guest').fill('restored-1')
  await restoring.getByRole('button', { name: 'Restore', exact: true }).click()
  await page.getByText(`Restore ${guest.name}: succeeded.`).waitFor()
  await until('it is there', async () => (await all()).some((one) => one.vmid === 7777 && one.name === 'restored-1'))

  // Over it: what is lost, and its name.
  await choose('Restore')
  await restoring.getByLabel('Restore to').selectOption('over')
  await restoring.getByRole('button', { name: 'Restore', exact: true }).click()
  const sure = page.getByRole('dialog', { name: `Overwrite ${guest.name} with the backup` })
  await sure.getByText('has written since the backup was taken is lost').waitFor()
  const yes = sure.getByRole('button', { name: `Overwrite ${guest.name} with the backup` })
  await sure.getByRole('textbox').fill('wrong')
  await page.keyboard.press('Enter')
  expect(await yes.getAttribute('aria-disabled')).toBe('true')
  await visitor.accessible('restore over')
  await visitor.picture('restore-over')
  await sure.getByRole('textbox').fill(guest.name)
  await yes.click()
  await sure.waitFor({ state: 'detached' })
  await page.getByText(`Restore ${guest.name}: succeeded.`).last().waitFor()
  await page.locator('main header').getByText('stopped').waitFor()

  // Deleted, once it is not protected any more.
  await choose('Remove protection')
  await row.getByText('protected', { exact: true }).waitFor({ state: 'detached' })
  await choose('Delete backup')
  const away = page.getByRole('dialog', { name: 'Delete backup' })
  await away.getByText('This is the last known good backup').waitFor()
  await visitor.accessible('delete')
  await visitor.picture('backup-delete')
  await away.getByRole('textbox').fill(guest.name)
  await away.getByRole('button', { name: 'Delete backup' }).click()
  await page.getByText('Delete backup: succeeded.').waitFor()
  await main.getByText('No backups.').waitFor()
  await visitor.leave()
})

test('of all guests', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  await caller.must('PATCH', '/api/v1/settings', { 'backup.max_age_days': 1 })
  await visitor.open('/guests')
  await visitor.logIn()
  await page.getByRole('grid').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('b')
  await page.getByRole('heading', { name: 'Backups', level: 1 }).waitFor()
  const table = main.getByRole('table', { name: 'Guests and their last good backups' })
  await table.getByText('never').first().waitFor()
  await main.getByRole('heading', { name: 'Recent backup jobs' }).waitFor()
  await main
    .getByRole('link', { name: /^backup\.run/ })
    .first()
    .waitFor()
  await visitor.accessible('all guests')
  await visitor.picture('backups')
  await page.emulateMedia({ colorScheme: 'dark' })
  await visitor.accessible('all guests in the dark', true)
  await visitor.picture('backups-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 360, height: 720 })
  await visitor.fits('all guests at 360')
  await visitor.picture('backups-360')
  await page.setViewportSize({ width: 1280, height: 720 })

  // One of them, from here.
  const guest = await stopped()
  const row = table.getByRole('row').filter({ has: page.locator(`a[href="/guests/${guest.id}/backups"]`) })
  await row.getByRole('button', { name: `Back up ${guest.name}`, exact: true }).click()
  const running = page.getByRole('dialog', { name: `Back up ${guest.name}` })
  await running.getByLabel('Storage').waitFor()
  await running.getByRole('button', { name: 'Back up', exact: true }).click()
  await page.getByText(`Back up ${guest.name}: succeeded.`).waitFor()
  await page.goBack()
  await row.getByText('up to date').waitFor()

  // Only what is too old stays in a list of that.
  await main.getByLabel('Only outdated backups').check()
  await page.waitForURL(/stale=1/)
  await row.waitFor({ state: 'detached' })
  const many = main.getByRole('button', { name: /^Back up \d+ outdated guests$/ })
  await many.click()
  const sure = page.getByRole('dialog', { name: /^Back up \d+ outdated guests$/ })
  await sure
    .getByText(/is backed up to/)
    .first()
    .waitFor()
  await visitor.accessible('all that is too old')
  await visitor.picture('backups-all')
  await page.keyboard.press('Escape')
  await sure.waitFor({ state: 'detached' })

  // What others write is text.
  await page.route(/\/api\/v1\/backups(\/coverage|\/storages)?(\?|$)/, async (route) => {
    const response = await route.fetch()
    const list = (await response.json()) as Record<string, unknown>[]
    for (const one of list)
      for (const field of ['name', 'host', 'storage', 'notes', 'detail', 'error']) if (field in one) one[field] = hostile
    await route.fulfill({ response, json: list })
  })
  for (const path of ['/backups', `/guests/${guest.id}/backups`]) {
    await visitor.open(path)
    await main.getByText('onerror').first().waitFor()
    expect(await page.locator('img').count(), path).toBe(0)
    await visitor.accessible(`${path}, hostile`)
    await page.setViewportSize({ width: 360, height: 720 })
    await visitor.fits(`${path}, hostile, at 360`)
    await visitor.picture(`backups-hostile${path.replaceAll('/', '-')}`)
    await page.setViewportSize({ width: 1280, height: 720 })
  }
  expect(await page.title()).not.toContain('taken')

  // A part that cannot be had says so, and the rest is there.
  await page.unroute(/\/api\/v1\/backups(\/coverage|\/storages)?(\?|$)/)
  visitor.provokes(500)
  await page.route(/\/api\/v1\/backups\/storages$/, (route) =>
    route.fulfill({ status: 500, json: { error: 'internal', detail: 'broken' } }),
  )
  await visitor.open('/backups')
  await main.getByRole('region', { name: 'Storages' }).getByRole('alert').waitFor()
  await table.waitFor()
  await visitor.picture('backups-part-failed')
  await visitor.leave()
})

test('of a guest that was deleted', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await stopped()
  const ended = async (job: { id: number }): Promise<void> => {
    await until('the job has ended', async () => {
      const { status } = await caller.must<{ status: string }>('GET', `/api/v1/jobs/${job.id}`)
      if (status === 'failed') throw new Error(`job ${job.id} failed`)
      return status === 'succeeded'
    })
  }
  const ran = await caller.must<{ jobs: { id: number }[] }>('POST', '/api/v1/backups/run', {
    targets: [{ vm: guest.id }],
    storage: 'local',
  })
  await ended(ran.jobs[0]!)
  await ended((await caller.must<{ job: { id: number } }>('DELETE', `/api/v1/vms/${guest.id}`, { confirm: guest.name })).job)

  await visitor.open('/backups')
  await visitor.logIn()
  await page.getByRole('link', { name: 'All backups' }).click()
  await page.getByLabel('Only backups of deleted guests').check()
  const row = page.getByRole('row').filter({ hasText: guest.name }).filter({ hasText: 'deleted guest' }).first()
  await row.waitFor()
  await visitor.accessible('all backups')
  await visitor.picture('backups-deleted-guest')
  await row.getByRole('button', { name: /^Actions for the backup/ }).click()
  await page.getByRole('menuitem', { name: 'Restore', exact: true }).click()
  const restoring = page.getByRole('dialog', { name: `Restore ${guest.name}` })
  await visitor.accessible('restore a deleted guest')
  await restoring.getByRole('button', { name: 'Restore', exact: true }).click()
  await page.getByText(`Restore ${guest.name}: succeeded.`).waitFor()
  await until('it is back', async () => (await all()).some((one) => one.name === guest.name))
  await visitor.leave()
})
