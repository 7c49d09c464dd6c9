// The parts of a guest: snapshot, rollback, delete; its network, options and disks; what it used, as lines and as tables.
import { beforeAll, expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { Visitor } from './start'

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
  template: boolean
}
const vm = async (status: string): Promise<Entry> =>
  (await caller.must<Entry[]>('GET', '/api/v1/guests')).find(
    (one) => one.kind === 'vm' && one.status === status && !one.template,
  )!

test('snapshot, rollback, delete', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await vm('stopped')
  await visitor.open(`/guests/${guest.id}/snapshots`)
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByText('No snapshots.').waitFor()
  await visitor.accessible('no snapshots')
  await visitor.picture('snapshots-none')

  for (const name of ['before-upgrade', 'after-upgrade']) {
    await main.getByRole('button', { name: 'Take snapshot' }).click()
    const dialog = page.getByRole('dialog', { name: 'Take snapshot' })
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Description').fill('<b>bold</b>')
    if (name === 'before-upgrade') {
      await dialog.getByRole('button', { name: 'As a command' }).click()
      await visitor.accessible('new snapshot')
      await visitor.picture('snapshot-new')
    }
    await dialog.getByRole('button', { name: 'Take snapshot' }).click()
    await page.getByText(`Take snapshot ${name}: succeeded.`).waitFor()
    await main.getByRole('rowheader', { name }).waitFor()
  }
  await visitor.accessible('snapshots')
  await visitor.picture('snapshots')

  // A name that is there is refused before it is asked for, and one that the service refuses is said at its field.
  visitor.provokes(422)
  await main.getByRole('button', { name: 'Take snapshot' }).click()
  const dialog = page.getByRole('dialog', { name: 'Take snapshot' })
  await dialog.getByLabel('Name').fill('before-upgrade')
  await dialog.getByText('A snapshot with this name already exists.').waitFor()
  await dialog.getByLabel('Name').fill('9 lives')
  await dialog.getByRole('button', { name: 'Take snapshot' }).click()
  await dialog.locator('.fault').waitFor()
  await visitor.accessible('refused')
  await visitor.picture('snapshot-refused')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  // Back to it: what is lost, and the name to type.
  await main.getByRole('button', { name: 'Actions for before-upgrade' }).click()
  await page.getByRole('menuitem', { name: 'Roll back' }).click()
  const back = page.getByRole('dialog', { name: 'Roll back to before-upgrade' })
  await back.getByText('All changes in the guest since then are lost.').waitFor()
  const yes = back.getByRole('button', { name: 'Roll back to before-upgrade' })
  expect(await yes.getAttribute('aria-disabled')).toBe('true')
  await back.getByRole('textbox').fill('wrong')
  await page.keyboard.press('Enter')
  expect(await yes.getAttribute('aria-disabled')).toBe('true')
  await visitor.accessible('rollback asked')
  await visitor.picture('rollback-asked')
  await back.getByRole('textbox').fill(guest.name)
  await yes.click()
  await page.getByText('Roll back to before-upgrade: succeeded.').waitFor()

  await main.getByRole('button', { name: 'Actions for after-upgrade' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const away = page.getByRole('dialog', { name: 'Delete snapshot after-upgrade' })
  await visitor.picture('snapshot-delete-asked')
  await away.getByRole('button', { name: 'Delete snapshot after-upgrade' }).click()
  await page.getByText('Delete snapshot after-upgrade: succeeded.').waitFor()
  await main.getByRole('rowheader', { name: 'after-upgrade' }).waitFor({ state: 'detached' })

  // A schedule for it begins with what is known of the guest, and keeps a week.
  await main.getByRole('link', { name: 'Schedule snapshots' }).click()
  const form = page.getByRole('dialog', { name: 'Add schedule' })
  await form.waitFor()
  await visitor.accessible('schedule of snapshots')
  await visitor.picture('snapshots-schedule')
  await form.getByRole('button', { name: 'Save schedule' }).click()
  await page.getByRole('heading', { name: `Snapshots of ${guest.name}` }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  const schedules = await caller.must<{ name: string; job_kind: string; params: object }[]>('GET', '/api/v1/schedules')
  expect(schedules.find((one) => one.name === `Snapshots of ${guest.name}`)).toMatchObject({
    job_kind: 'vm.snapshot_create',
    params: { vm_id: guest.id, name: 'nightly', keep: 7 },
  })
  await visitor.leave()
})

test('a network card, options and disks are changed', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(409, 422)
  const guest = await vm('running')
  const url = `/api/v1/vms/${guest.id}`
  const nic = async (): Promise<Record<string, unknown>> =>
    (await caller.must<Record<string, unknown>[]>('GET', `${url}/network`))[0]!
  await visitor.open(`/guests/${guest.id}/network`)
  await visitor.logIn()
  const main = page.getByRole('main')

  // What is wrong is told at its field. The rest stays as it was.
  await main.getByRole('button', { name: 'Edit net0' }).click()
  const card = page.getByRole('dialog', { name: `Edit net0 of ${guest.name}` })
  const send = card.getByRole('button', { name: 'Save' })
  expect(await send.getAttribute('aria-disabled')).toBe('true')
  await card.getByLabel('VLAN tag').fill('5000')
  await card.getByLabel('Disconnect').check()
  await card.getByRole('button', { name: 'As a command' }).click()
  await card.getByText(/curl .*"tag":5000,"link_down":true/).waitFor()
  await visitor.accessible('changing a network card')
  await visitor.picture('nic-change')
  await send.click()
  await card.getByRole('button', { name: /^VLAN tag: / }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('tag')
  await visitor.accessible('a refused network card')
  await visitor.picture('nic-refused')
  await card.getByLabel('VLAN tag').fill('20')
  await send.click()
  await page.getByText(`net0 of ${guest.name} was changed.`).waitFor()
  await main.getByText('VLAN 20').waitFor()
  await main.getByText('link down').waitFor()

  // Somebody else was faster: what was there, what one wrote, what is there now.
  await main.getByRole('button', { name: 'Edit net0' }).click()
  await card.getByLabel('VLAN tag').fill('21')
  await caller.must('PUT', `${url}/network/net0`, { tag: 30, link_down: false })
  await send.click()
  const meanwhile = card.getByRole('table', { name: 'Changed in the meantime' })
  await meanwhile.getByRole('row', { name: /^Disconnect/ }).waitFor()
  expect(await card.getByLabel('Disconnect').isChecked()).toBe(false)
  await visitor.accessible('a network card that was changed meanwhile')
  await visitor.picture('nic-meanwhile')
  await meanwhile.getByLabel('30').check()
  expect(await card.getByLabel('VLAN tag').inputValue()).toBe('30')
  await meanwhile.getByLabel('21').check()
  await send.click()
  await main.getByText('VLAN 21').waitFor()
  expect(await nic()).toMatchObject({ tag: 21, link_down: false })

  // A second interface starts like the first, and what the service refuses is told at its field.
  await main.getByRole('button', { name: 'Add network interface' }).click()
  const second = page.getByRole('dialog', { name: `Add net1 to ${guest.name}` })
  await second.getByRole('combobox', { name: 'Bridge' }).fill('nowhere')
  await second.getByRole('button', { name: 'Add network interface' }).click()
  await second.getByRole('button', { name: /^Bridge: / }).waitFor()
  await second.getByRole('combobox', { name: 'Bridge' }).fill('vmbr0')
  await second.getByLabel('VLAN tag').fill('40')
  await visitor.accessible('adding a network interface')
  await visitor.picture('nic-add')
  await second.getByRole('button', { name: 'Add network interface' }).click()
  await page.getByText(`net1 was added to ${guest.name}.`).waitFor()
  await main.getByRole('region', { name: 'net1' }).getByText('VLAN 40').waitFor()

  // Options: some hold at once, and some wait for a restart.
  await main.getByRole('navigation', { name: 'Guest sections' }).getByRole('link', { name: 'Options' }).click()
  await main.getByRole('button', { name: 'Edit options' }).click()
  const options = page.getByRole('dialog', { name: `Edit the options of ${guest.name}` })
  await visitor.picture('options-change')
  await options.getByLabel('Search options').fill('protect')
  await options.getByLabel('Protection (protection)').selectOption('on')
  await options.getByLabel('Search options').fill('firmware')
  await options.getByLabel('Firmware (bios)').selectOption('ovmf')
  await options.getByLabel('Search options').fill('no such')
  expect(await options.getByRole('combobox').count()).toBe(2)
  await options.getByRole('button', { name: 'As a command' }).click()
  await options.getByText(/curl .*("protection":true.*"bios":"ovmf"|"bios":"ovmf".*"protection":true)/).waitFor()
  await visitor.accessible('changing options')
  await visitor.picture('options-changed')
  await options.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Some changes are pending until the guest restarts').waitFor()
  const waits = main.getByRole('region', { name: 'Pending until restart' })
  await waits.getByText('ovmf').waitFor()
  await visitor.accessible('options that wait')
  await visitor.picture('options-waiting')
  await main.getByRole('button', { name: 'Edit options' }).click()
  await options.getByText(/^Pending until restart; currently /).waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  await visitor.accessible('options in the dark', true)
  await visitor.picture('options-change-dark')
  await options.getByLabel('Protection (protection)').selectOption('not set')
  await options.getByRole('button', { name: 'Save' }).click()
  await options.waitFor({ state: 'detached' })
  const { options: set } = await caller.must<{ options: Record<string, unknown> }>('GET', `${url}/options`)
  expect(set).not.toHaveProperty('protection')

  // A new disk: the storage with the most room is chosen, and what the service refuses is told at its field.
  const disks = async (): Promise<{ key: string; size_gb: number | null }[]> =>
    (await caller.must<{ disks: { key: string; size_gb: number | null }[] }>('GET', `${url}/config`)).disks
  const before = (await disks()).map((one) => one.key)
  await main.getByRole('button', { name: 'Add disk' }).click()
  const disk = page.getByRole('dialog', { name: `Add disk to ${guest.name}` })
  await disk.getByLabel('Size (GiB)').fill('0')
  await disk.getByRole('button', { name: 'Add disk' }).click()
  await disk.getByRole('button', { name: /^Size \(GiB\): / }).waitFor()
  await visitor.accessible('a refused disk')
  await visitor.picture('disk-refused')
  await disk.getByLabel('Size (GiB)').fill('3')
  await disk.getByRole('button', { name: 'As a command' }).click()
  await disk.getByText(/curl .*"size_gb":3/).waitFor()
  await visitor.picture('disk-add')
  await disk.getByRole('button', { name: 'Add disk' }).click()
  await disk.waitFor({ state: 'detached' })
  const added = (await disks()).filter((one) => !before.includes(one.key))
  expect(added).toEqual([expect.objectContaining({ size_gb: 3 })])
  await page.getByText(`Disk ${added[0]!.key} was added to ${guest.name}.`).waitFor()
  await main.getByText(added[0]!.key, { exact: true }).first().waitFor()

  // Name, tags and notes.
  await main.getByRole('button', { name: 'Edit name, tags and notes' }).click()
  const details = page.getByRole('dialog', { name: `Name, tags and notes of ${guest.name}` })
  const save = details.getByRole('button', { name: 'Save' })
  expect(await save.getAttribute('aria-disabled')).toBe('true')
  await details.getByLabel('Name', { exact: true }).fill('not a name')
  await save.click()
  await details.getByRole('button', { name: /^Name: / }).waitFor()
  await details.getByLabel('Name', { exact: true }).fill('renamed-1')
  await details.getByLabel('Tags').fill('blue, green')
  await details.getByLabel('Notes').fill('of <b>Anna</b>')
  await visitor.accessible('name, tags and notes')
  await visitor.picture('details')
  await save.click()
  await details.waitFor({ state: 'detached' })
  await main.getByRole('region', { name: 'Machine' }).getByText('of <b>Anna</b>').waitFor()
  const { name, tags, description } = await caller.must<Record<string, unknown>>('GET', `${url}/config`)
  expect({ name, tags, description }).toEqual({ name: 'renamed-1', tags: ['blue', 'green'], description: 'of <b>Anna</b>' })
  await visitor.leave()
})

test('charts, network and options', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await vm('running')
  await caller.must('POST', `/api/v1/vms/${guest.id}/restart`)
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('/metrics/') && asked.push(request.url()))
  await visitor.open(`/guests/${guest.id}`)
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByRole('img', { name: /^CPU: CPU: last / }).waitFor()
  expect(await main.getByRole('img').count()).toBe(4)
  expect(asked).toHaveLength(1)
  await main.getByRole('group', { name: 'Time range' }).waitFor()
  await main.locator('details').getByRole('link', { name: 'Restart: VM' }).first().waitFor()
  await visitor.accessible('charts')
  await visitor.picture('guest-charts')
  await page.emulateMedia({ colorScheme: 'dark' })
  await visitor.accessible('charts in the dark', true)
  await visitor.picture('guest-charts-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.keyboard.press('t')
  await main.getByRole('columnheader', { name: 'Time' }).first().waitFor()
  await visitor.accessible('tables')
  await visitor.picture('guest-chart-tables')
  await main.getByRole('button', { name: '24 h' }).click()
  await page.waitForURL((url) => url.searchParams.get('range') === 'day')
  await page.setViewportSize({ width: 360, height: 720 })
  await page.keyboard.press('t')
  await visitor.fits('charts at 360')
  await visitor.picture('guest-charts-360')
  await page.setViewportSize({ width: 1280, height: 720 })

  // What a guest is called inside, and its notes, are text.
  await page.route(/\/api\/v1\/vms\/\d+\/(config|network|options|snapshots)$/, async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as Record<string, unknown> | Record<string, unknown>[]
    if (route.request().url().endsWith('/config')) Object.assign(json, { description: hostile, pending: { memory: hostile } })
    if (route.request().url().endsWith('/network'))
      for (const one of json as Record<string, unknown>[]) Object.assign(one, { name: hostile, bridge: hostile })
    if (route.request().url().endsWith('/options')) {
      const key = { name: hostile, type: 'string', values: null, min: null, max: null, max_length: null, autostart: false }
      Object.assign(json, { options: { [hostile]: hostile }, keys: [key, { ...key, name: 'odd', values: [hostile] }] })
    }
    const odd = { name: hostile, parent: 'gone', description: hostile, snaptime: null, vmstate: true, incomplete: true }
    await route.fulfill({ response, json: route.request().url().endsWith('/snapshots') ? [odd] : json })
  })
  for (const [part, sign, change] of [
    ['Network', 'net0', 'Edit net0'],
    ['Options', 'Pending until restart', 'Edit options'],
    ['Snapshots', 'incomplete', undefined],
  ] as const) {
    await main.getByRole('navigation', { name: 'Guest sections' }).getByRole('link', { name: part }).click()
    await main.getByText(sign).first().waitFor()
    expect(await page.locator('img').count(), part).toBe(0)
    await visitor.accessible(part)
    await visitor.fits(part)
    await visitor.picture(`guest-${part.toLowerCase()}`)
    await page.setViewportSize({ width: 360, height: 720 })
    await visitor.fits(`${part} at 360`)
    await visitor.picture(`guest-${part.toLowerCase()}-360`)
    if (change) {
      await main.getByRole('button', { name: change }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'As a command' }).waitFor()
      expect(await page.locator('img').count(), change).toBe(0)
      await visitor.accessible(change)
      await visitor.fits(`${change} at 360`)
      await visitor.picture(`guest-change-${part.toLowerCase()}-360`)
      await page.keyboard.press('Escape')
    }
    await page.setViewportSize({ width: 1280, height: 720 })
  }
  expect(await page.title()).not.toContain('taken')
  await visitor.leave()
})
