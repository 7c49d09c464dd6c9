// A VM is made, copied, resized, moved and destroyed: what is possible is offered, what is wrong stands at its field, what would happen is
// told before, and the name is typed. The service's own guest is refused.
import { hostname } from 'node:os'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { browser, caller, cluster, service, stage } from './stage'
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
  node: string
  vmid: number
  host_id: number
  app_id: number | null
  guest_ref: string
  is_self: boolean
}
const all = (): Promise<Entry[]> => caller.must<Entry[]>('GET', '/api/v1/guests')
const named = (name: string): Promise<Entry> =>
  until(`${name} is there`, async () => (await all()).find((one) => one.name === name))

/** choose opens the menu of a guest's page and takes an entry of it. */
async function choose(page: Page, name: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}

/** movable is a VM that runs and can go to the node: it has no snapshots on disks that would be copied. */
async function movable(node: string): Promise<Entry> {
  for (const one of await all()) {
    if (one.kind !== 'vm' || one.status !== 'running' || one.node === node) continue
    const order = { target_host_id: one.host_id, node }
    const { possible } = await caller.must<{ possible: boolean }>('POST', `/api/v1/vms/${one.id}/migrate/preflight`, order)
    if (possible) return one
  }
  throw new Error(`no VM can go to ${node}`)
}

const disabled = (control: Locator): Promise<string | null> => control.getAttribute('aria-disabled')

test('create', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  await visitor.open('/guests')
  await visitor.logIn()
  await page.getByRole('button', { name: 'Create VM' }).click()
  await page.getByRole('heading', { name: 'Create VM' }).waitFor()

  // Only what is there is offered: storages that hold disks and have room, the bridge, a number that is free.
  const storage = main.getByLabel('Disk storage')
  await storage.locator('option', { hasText: 'local-lvm' }).waitFor({ state: 'attached' })
  expect(await storage.locator('option').allTextContents()).not.toContain('local')
  await main.getByText(/^\d+ is free\.$/).waitFor()
  await main.getByLabel('Disk (GiB)').fill('90000')
  await main.getByText('The disk can grow beyond the free space on the storage.').waitFor()
  await visitor.picture('create-scarce')
  await main.getByLabel('Disk (GiB)').fill('8')
  await storage.selectOption({ index: 0 })

  // What is wrong is told at its field, and nothing that was typed is lost.
  visitor.provokes(422)
  await main.getByLabel('Name', { exact: true }).fill('-web_new')
  await main.getByLabel('Cores').fill('many')
  await main.getByRole('button', { name: 'Create VM' }).click()
  const links = main.getByText('Please correct:')
  await links.waitFor()
  await expect.poll(() => main.getByLabel('Cores').getAttribute('aria-invalid')).toBe('true')
  await visitor.accessible('faults')
  await visitor.picture('create-faults')
  await main.getByLabel('Cores').fill('2')
  await main.getByRole('button', { name: 'Create VM' }).click()
  await main.getByRole('button', { name: /^Name: / }).click()
  await expect.poll(() => main.getByLabel('Name', { exact: true }).evaluate((one) => one === document.activeElement)).toBe(true)
  expect(await main.getByLabel('Disk (GiB)').inputValue()).toBe('8')

  // An image, by the storage that it is on.
  await main.getByLabel('ISO storage').selectOption('nas')
  await main.getByText('This storage has no ISO images.').waitFor()
  await main.getByLabel('ISO storage').selectOption('local')
  await main.getByRole('combobox', { name: 'ISO image', exact: true }).fill('debian')
  await page.keyboard.press('Enter')
  await main.getByLabel('Name', { exact: true }).fill('web-new')
  await main.getByRole('button', { name: 'As a command' }).click()
  await expect.poll(() => main.getByText(/^curl /).textContent()).toContain('"iso":"local:iso/debian')
  await visitor.accessible('create')
  await visitor.picture('create')
  await page.emulateMedia({ colorScheme: 'dark' })
  await visitor.accessible('create in the dark', true)
  await visitor.picture('create-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 360, height: 720 })
  await visitor.fits('create at 360')
  await visitor.picture('create-360')
  await page.setViewportSize({ width: 1280, height: 720 })
  await main.getByRole('button', { name: 'Create VM' }).click()
  await page.waitForURL(/\/jobs\/\d+$/)
  await page.getByText('Create web-new: succeeded.').waitFor()
  await named('web-new')

  // What hypervisors call things is text; a place that cannot be asked says so, and the form stays.
  visitor.provokes(502)
  let broken = false
  await page.route(/\/placement$/, async (route) => {
    const response = await route.fetch()
    if (broken) return route.fulfill({ status: 502, json: { error: 'hypervisor_error', detail: hostile, reason: 'refused' } })
    const json = (await response.json()) as { storages: { name: string }[]; bridges: string[]; ostypes: string[] }
    json.storages[0]!.name = hostile
    Object.assign(json, { bridges: [hostile], ostypes: [hostile] })
    return route.fulfill({ response, json })
  })
  await visitor.open('/guests/new')
  await main.getByLabel('Bridge').locator('option', { hasText: 'onerror' }).waitFor({ state: 'attached' })
  expect(await page.locator('img').count()).toBe(0)
  await visitor.fits('hostile names')
  await visitor.picture('create-hostile')
  broken = true
  await main.getByLabel('Name', { exact: true }).fill('kept')
  await main.getByLabel('Node').selectOption('pve2')
  await main.getByRole('alert').waitFor()
  await visitor.fits('hostile detail')
  await visitor.picture('create-away')
  broken = false
  await main.getByRole('button', { name: 'Try again' }).click()
  await main.getByRole('alert').waitFor({ state: 'detached' })
  expect(await main.getByLabel('Name', { exact: true }).inputValue()).toBe('kept')
  expect(await page.title()).not.toContain('taken')
  await visitor.leave()
})

test('copy, resize, move', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await named('web-new')
  await visitor.open(`/guests/${guest.id}`)
  await visitor.logIn()

  // A copy: in full, for only a template can share its disks. The dialog has its place in the address.
  await choose(page, 'web-new', 'Clone')
  const copying = page.getByRole('dialog', { name: 'Clone web-new' })
  await copying.getByLabel('Disk storage').waitFor()
  expect(await copying.getByLabel('Clone type').count()).toBe(0)
  await page.reload()
  await copying.getByLabel('Disk storage').waitFor()
  visitor.provokes(422)
  await copying.getByLabel('VMID').fill('3')
  await copying.getByRole('button', { name: 'Clone', exact: true }).click()
  await copying.getByText('Please correct:').waitFor()
  await visitor.accessible('copy refused')
  await visitor.picture('copy-refused')
  await copying.getByLabel('VMID').fill('')
  await copying.getByLabel('Name of the clone').fill('web-copy')
  await copying.getByRole('button', { name: 'Clone', exact: true }).click()
  await page.getByText('Clone web-new: succeeded.').waitFor()
  expect(new URL(page.url()).search).toBe('')
  const copy = await named('web-copy')

  // Of a template a copy can share its disks.
  await cluster.order({ op: 'set', vmid: copy.vmid, template: true })
  await caller.must('POST', `/api/v1/hosts/${copy.host_id}/sync`)
  await visitor.open(`/guests/${copy.id}?do=clone`)
  const linking = page.getByRole('dialog', { name: 'Clone web-copy' })
  await linking.getByLabel('Clone type').selectOption('linked')
  await linking.getByLabel('Disk storage').waitFor({ state: 'detached' })
  await visitor.accessible('linked copy')
  await visitor.picture('copy-linked')
  await linking.getByRole('button', { name: 'Clone', exact: true }).click()
  await page.getByText('Clone web-copy: succeeded.').waitFor()

  // Resized from the palette. A disk does not become smaller.
  await caller.must('POST', `/api/v1/vms/${guest.id}/start`)
  await visitor.open(`/guests/${guest.id}/options`)
  await page.locator('main header').getByText('running').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or run a command' }).fill('resize web-new')
  // It is offered once the start is over.
  await page.getByRole('option', { name: 'Resize web-new' }).waitFor()
  await page.keyboard.press('Enter')
  const sizing = page.getByRole('dialog', { name: 'Resize web-new' })
  const disk = sizing.getByLabel(/^Disk .* \(GiB\)$/)
  await disk.fill('4')
  await sizing.getByText('A disk cannot shrink.').waitFor()
  expect(await disabled(sizing.getByRole('button', { name: 'Resize', exact: true }))).toBe('true')
  await disk.fill('16')
  await sizing.getByLabel('Cores').fill('4')
  await visitor.accessible('resize')
  await visitor.picture('resize')

  // Somebody else changes it meanwhile: all three are shown, and one chooses.
  visitor.provokes(409)
  await caller.must('PATCH', `/api/v1/vms/${guest.id}`, { disks: { virtio0: { size_gb: 12 } } })
  await sizing.getByRole('button', { name: 'Resize', exact: true }).click()
  await sizing.getByText('Someone else changed this in the meantime.').waitFor()
  const meanwhile = sizing.getByRole('table', { name: 'Changed in the meantime' })
  await meanwhile.getByRole('row', { name: 'Disk virtio0 (GiB) 8 16 12' }).waitFor()
  await meanwhile.getByLabel('12').check()
  expect(await disk.inputValue()).toBe('12')
  await meanwhile.getByLabel('16').check()
  await visitor.accessible('changed meanwhile')
  await visitor.picture('resize-meanwhile')
  await sizing.getByRole('button', { name: 'Resize', exact: true }).click()
  await sizing.getByText('Pending until restart:').waitFor()
  await visitor.accessible('waits for a restart')
  await visitor.picture('resize-waits')
  await sizing.getByRole('button', { name: 'Restart web-new' }).click()
  await page.getByText('Restart web-new: succeeded.').waitFor()
  await expect
    .poll(async () => (await caller.must<{ cores: number }>('GET', `/api/v1/vms/${guest.id}/config`)).cores, { timeout: 60_000 })
    .toBe(4)
  // The tab below the dialog shows what holds now.
  await page.getByRole('main').getByRole('region', { name: 'Machine' }).getByText(/^4 × /).waitFor()

  // What is in the way of a move is told before: an image in its drive that only this node has.
  await visitor.open(`/guests/${guest.id}?do=migrate`)
  const target = guest.node === 'pve2' ? 'pve3' : 'pve2'
  const stuck = page.getByRole('dialog', { name: 'Migrate web-new', exact: true })
  await stuck.getByRole('combobox', { name: 'Target node', exact: true }).fill(target)
  await page.keyboard.press('Enter')
  await stuck.getByText('The guest cannot be migrated.').waitFor()
  await stuck.getByText("exists only on the guest's node").waitFor()
  expect(await disabled(stuck.getByRole('button', { name: 'Migrate', exact: true }))).toBe('true')
  await visitor.accessible('a move that cannot be')
  await visitor.picture('move-blocked')

  // Without the image, it is not in the way. Another one is inserted first.
  await visitor.open(`/guests/${guest.id}/options`)
  const inDrive = async (): Promise<string | null | undefined> =>
    (await caller.must<{ disks: { key: string; volume: string | null }[] }>('GET', `/api/v1/vms/${guest.id}/config`)).disks.find(
      (one) => one.key === 'ide2',
    )?.volume
  const iso = await inDrive()
  await page.getByRole('main').getByRole('button', { name: 'Change image' }).click()
  const drive = page.getByRole('dialog', { name: 'Image in ide2 of web-new' })
  await drive.getByLabel('ISO storage').selectOption('local')
  await drive.getByLabel('ISO image', { exact: true }).selectOption(iso!)
  await drive.getByRole('button', { name: 'As a command' }).click()
  await drive.getByText(/curl .*"image":"local:iso\/debian/).waitFor()
  await visitor.accessible('changing an image')
  await visitor.picture('image-change')
  await drive.getByRole('button', { name: 'Change image' }).click()
  await page.getByText('The image in ide2 of web-new was changed.').waitFor()
  expect(await inDrive()).toBe(iso)
  await page.getByRole('main').getByRole('button', { name: 'Change image' }).click()
  await drive.getByLabel('ISO storage').waitFor()
  await drive.getByRole('button', { name: 'Eject' }).click()
  await page.getByText('The image in ide2 of web-new was ejected.').waitFor()
  expect(await inDrive()).toBeNull()
  await page.getByRole('main').getByText('empty', { exact: true }).waitFor()

  // Moved: first what it would meet, then what would happen.
  const able = await movable(target)
  await visitor.open(`/guests/${able.id}`)
  await page.locator('main header').getByText('running').waitFor()
  await choose(page, able.name, 'Migrate')
  const moving = page.getByRole('dialog', { name: `Migrate ${able.name}`, exact: true })
  await moving.getByRole('combobox', { name: 'Target node', exact: true }).fill(target)
  await page.keyboard.press('Enter')
  await moving.getByText(`The guest can be migrated to ${target}.`).waitFor()
  await visitor.accessible('what a move would meet')
  await visitor.picture('move')
  await page.setViewportSize({ width: 360, height: 720 })
  await visitor.fits('move at 360')
  await visitor.picture('move-360')
  await page.setViewportSize({ width: 1280, height: 720 })
  await moving.getByRole('button', { name: 'Migrate', exact: true }).click()
  const sure = page.getByRole('dialog', { name: `Migrate ${able.name} to ${target}` })
  await sure.getByText(`is moved from the node ${able.node} to the node ${target}`).waitFor()
  await visitor.accessible('move asked')
  await visitor.picture('move-asked')
  await sure.getByRole('button', { name: `Migrate ${able.name}` }).click()
  await page.getByText(`Migrate ${able.name}: succeeded.`).waitFor()
  await expect.poll(async () => (await named(able.name)).node, { timeout: 60_000 }).toBe(target)
  await visitor.leave()
})

test('destroy, wrong phrase, self target', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await named('web-new')
  await visitor.open(`/guests/${guest.id}`)
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.locator('header').getByText('running').waitFor()

  // While it runs something is in the way, and nothing can be typed.
  await choose(page, 'web-new', 'Delete')
  const dialog = page.getByRole('dialog', { name: 'Delete web-new' })
  const yes = dialog.getByRole('button', { name: 'Delete web-new' })
  await dialog.getByText('web-new is running; stop it first').waitFor()
  expect(await disabled(yes)).toBe('true')
  expect(await dialog.getByRole('textbox').count()).toBe(0)
  await visitor.accessible('destroy blocked')
  await visitor.picture('destroy-blocked')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await caller.must('POST', `/api/v1/vms/${guest.id}/stop`)
  await main.locator('header').getByText('stopped').waitFor()

  // What goes with it is told; a wrong name does nothing, whatever key is pressed.
  await choose(page, 'web-new', 'Delete')
  await dialog.getByText('web-new is destroyed.').waitFor()
  await dialog.getByText("is also removed from the hypervisor's own backup jobs").waitFor()
  await dialog.getByLabel('Also remove it from').uncheck()
  await dialog.getByText('The entries for web-new').waitFor()
  await dialog.getByRole('textbox').fill('web-newer')
  await page.keyboard.press('Enter')
  expect(await disabled(yes)).toBe('true')
  await visitor.accessible('destroy asked')
  await visitor.picture('destroy-asked')
  await page.emulateMedia({ colorScheme: 'dark' })
  await visitor.accessible('destroy asked in the dark', true)
  await visitor.picture('destroy-asked-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  // What would happen changes meanwhile: it is asked again.
  visitor.provokes(409)
  await caller.must('POST', '/api/v1/schedules', {
    name: 'nightly start',
    cron: '0 3 * * *',
    timezone: 'UTC',
    job_kind: 'vm.start',
    params: { vm_id: guest.id },
  })
  await dialog.getByRole('textbox').fill('web-new')
  await page.keyboard.press('Enter')
  await dialog.getByText('The plan is out of date.').waitFor()
  await dialog.getByText('nightly start').waitFor()
  await visitor.picture('destroy-stale')
  await dialog.getByRole('textbox').fill('web-new')
  await yes.click()
  await page.getByText('Delete web-new: succeeded.').waitFor()
  await page.waitForURL(/\/guests$/)
  await until('it is gone', async () => !(await all()).some((one) => one.id === guest.id))

  // The service's own guest is not destroyed by itself.
  const own = (await all()).find((one) => one.kind === 'vm' && one.status === 'stopped')!
  await cluster.order({ op: 'rename', vmid: own.vmid, name: hostname().split('.')[0] })
  await visitor.open(`/hosts/${own.host_id}?part=settings`)
  await page.getByText('Currently set to none of the hosts.').waitFor()
  await page.getByRole('button', { name: 'Hostler runs on this host' }).click()
  await page.getByText('Saved: Hostler runs on demo.').waitFor()
  await page.getByRole('button', { name: 'Hostler does not run on this host' }).waitFor()
  await visitor.accessible('the own host')
  await visitor.picture('host-self')
  await caller.must('POST', `/api/v1/hosts/${own.host_id}/sync`)
  await until('it is the own one', async () => (await all()).some((one) => one.id === own.id && one.is_self))
  await visitor.open(`/guests/${own.id}?do=delete`)
  const self = page.getByRole('dialog', { name: 'Delete' })
  await self.getByText('Hostler itself runs in this guest.').waitFor()
  await visitor.accessible('the own guest')
  await visitor.picture('destroy-self')
  await caller.must('PATCH', '/api/v1/settings', { 'self.host_id': null })

  // An app is uninstalled, or only forgotten.
  const container = (await all()).find((one) => one.kind === 'container')!
  const items = [{ host_id: container.host_id, guest_ref: container.guest_ref }]
  await caller.must('POST', '/api/v1/apps/adopt', { items })
  const app = await until('it is an app', async () => (await all()).find((one) => one.id === container.id && one.app_id !== null))
  await visitor.open(`/guests/${app.id}?do=delete`)
  const away = page.getByRole('dialog', { name: 'Uninstall' })
  await away.getByText('No backup is made first.').waitFor()
  await visitor.picture('uninstall-asked')
  await away.getByLabel('Only remove the app from Hostler').check()
  await away.getByText('Its container does not change.').first().waitFor()
  await visitor.accessible('only forgotten')
  await away.getByRole('textbox').fill((await away.locator('label', { hasText: /^Type / }).textContent())!.replace(/^Type /, ''))
  await away.getByRole('button', { name: /^Uninstall/ }).click()
  await page.getByText(/ was removed from Hostler\.$/).waitFor()
  await until('it is no app', async () => (await all()).find((one) => one.id === container.id)?.app_id === null)
  await visitor.leave()
})

test('many at once, with what is skipped', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const vms = (await all()).filter((one) => one.kind === 'vm')
  const running = vms.find((one) => one.status === 'running')!
  const template = vms.find((one) => one.name === 'web-copy')!
  await visitor.open('/guests')
  await visitor.logIn()
  for (const one of [running, template]) await page.getByLabel(`Select ${one.name}`, { exact: true }).check()
  await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Force stop' }).click()
  const dialog = page.getByRole('dialog', { name: 'Force stop 2 guests' })
  await dialog.getByText(`The vm ${template.id} is skipped`).waitFor()
  await visitor.accessible('many asked')
  await visitor.picture('bulk-asked')
  await dialog.getByRole('button', { name: 'Force stop 2 guests' }).click()
  const skipped = page.getByRole('dialog', { name: '1 was skipped.' })
  await skipped.getByRole('link', { name: template.name }).waitFor()
  await visitor.accessible('skipped')
  await visitor.picture('bulk-skipped')
  await skipped.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('group', { name: 'Selection' }).waitFor({ state: 'detached' })
  await visitor.leave()
})
