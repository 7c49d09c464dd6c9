// Common tasks, with the clicks, keys and fields that each takes, and its seconds. They begin where one is after the log-in, or where the
// task before has led. The clicks are limited; the seconds are only printed, because the machine may be busy.
//
// Beside them are the clicks that Proxmox VE 9's own page takes, from the same place to the end of the same task, without closing the
// windows of its tasks: to open a list and to choose from it are two, as here. Where it has nothing of the kind there is no number.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { limit, until, Visitor } from './start'

stage({ cluster: { nodes: 8, guests: 5000 } })

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hostler-tasks-'))
  mkdirSync(join(folder, 'hello'))
  const look = {
    name: 'Hello',
    description: 'It says hello.',
    categories: ['Tools'],
    web: { protocol: 'http', port: 8080, path: '/' },
    defaults: { cores: 1, memory_mb: 512, disk_gb: 4, os: 'debian', os_version: '13', privileged: false },
  }
  writeFileSync(join(folder, 'hello/app.json'), JSON.stringify(look))
  writeFileSync(join(folder, 'hello/ct.sh'), '#!/bin/bash\npct create "$var_ctid"\n')
  writeFileSync(join(folder, 'hello/install.sh'), 'echo "Completed successfully!"\n')
  writeFileSync(join(folder, 'small.iso'), 'a small file')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Guest {
  id: number
  host_id: number
  guest_ref: string
  name: string
  vmid: number
  kind: string
  status: string
  node: string
  template: boolean
}
interface Job {
  id: number
  status: string
}

/** done waits for the end of what was asked for beside the page. */
async function done({ job }: { job: Job }): Promise<void> {
  await until('the job is done', async () => {
    const { status } = await caller.must<Job>('GET', `/api/v1/jobs/${job.id}`)
    if (status === 'failed') throw new Error(`the job ${job.id} has failed`)
    return status === 'succeeded'
  })
}

/** Effort is what a person does with the hands. */
interface Effort {
  clicks: number
  keys: number
  fields: number
}

/** counting counts it from now on, on every page that is opened. */
async function counting(page: Page): Promise<Effort> {
  const effort = { clicks: 0, keys: 0, fields: 0 }
  await page.exposeFunction('counted', (what: keyof Effort, n: number) => void (effort[what] += n))
  await page.addInitScript(() => {
    const { counted } = window as unknown as { counted: (what: string, n: number) => void }
    // A click by a key has no detail. A choice is opened and made.
    addEventListener('click', (event) => event.isTrusted && event.detail > 0 && counted('clicks', 1), true)
    addEventListener('change', ({ target }) => target instanceof HTMLSelectElement && counted('clicks', 2), true)
    addEventListener('keydown', (event) => event.isTrusted && event.key.length > 1 && counted('keys', 1), true)
    addEventListener(
      'input',
      ({ target }) => {
        const written = target instanceof HTMLInputElement && !['checkbox', 'radio', 'file'].includes(target.type)
        if (written || target instanceof HTMLTextAreaElement) counted('fields', 1)
      },
      true,
    )
  })
  return effort
}

/** movable is a running VM that can go to another node, with that node. */
async function movable(all: Guest[]): Promise<Guest & { to: string }> {
  for (const one of all.filter(({ kind, status }) => kind === 'vm' && status === 'running').slice(0, 50)) {
    const to = one.node === 'pve1' ? 'pve2' : 'pve1'
    const order = { target_host_id: one.host_id, node: to }
    const { possible } = await caller.must<{ possible: boolean }>('POST', `/api/v1/vms/${one.id}/migrate/preflight`, order)
    if (possible) return { ...one, to }
  }
  throw new Error('no VM can move')
}

test('common tasks', async () => {
  // What the tasks are about: nothing of it is theirs.
  await caller.must('PATCH', '/api/v1/settings', { 'poll.interval_s': 5 })
  const all = await caller.must<Guest[]>('GET', '/api/v1/guests')
  const some = (kind: string, status: string): Guest =>
    all.find((one) => one.kind === kind && one.status === status && !one.template)!
  const [stopped, container, busy] = [some('vm', 'stopped'), some('container', 'running'), some('vm', 'running')]
  const spare = all.find((one) => one.kind === 'vm' && one.status === 'stopped' && !one.template && one !== stopped)!
  const moved = await movable(all)
  await caller.must('PUT', `/api/v1/firewall/cluster/${stopped.host_id}/options`, { enable: 1 })
  await caller.must('PUT', `/api/v1/vms/${stopped.id}/firewall/options`, { enable: 1, policy_in: 'DROP' })
  await caller.must('PUT', `/api/v1/vms/${stopped.id}/network/net0`, { firewall: true })
  const sources = '/api/v1/catalog/sources'
  const { trust_digest } = (await caller.must<{ name: string; trust_digest: string }[]>('GET', sources)).find(
    (one) => one.name === 'folder',
  )!
  await caller.must('PATCH', `${sources}/folder`, { enabled: true, trust_digest, options: { folder } })
  await done(await caller.must('POST', '/api/v1/catalog/refresh'))
  const { host_id, guest_ref, name } = container
  await caller.must('POST', '/api/v1/apps/adopt', { items: [{ host_id, guest_ref, name }] })
  const [app] = await caller.must<{ id: number }[]>('GET', '/api/v1/apps')
  await done(await caller.must('POST', `/api/v1/apps/${app!.id}/snapshots`, { name: 'before-update' }))
  await done(await caller.must('POST', `/api/v1/vms/${busy.id}/stop`))
  const rule = { name: 'busy', kind: 'cpu', on: { targets: [`vm:${stopped.id}`] }, threshold: 0.001, for_s: 0 }
  await caller.must('POST', '/api/v1/alert-rules', rule)
  await caller.must('POST', '/api/v1/teams', { name: 'Shop' })

  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const effort = await counting(page)
  const main = page.getByRole('main')
  const pages = page.getByRole('navigation', { name: 'Menu' })
  const parts = main.getByRole('navigation', { name: 'Guest sections' })
  await visitor.open('/guests')
  await visitor.logIn()
  await main.getByText(`${all.length.toLocaleString('en')} guests`).waitFor()

  const rows: string[] = []
  /** task limits how many clicks a task takes; there are those that it takes in Proxmox VE. */
  const task = async (what: string, clicks: number, there: number | undefined, act: () => Promise<void>): Promise<void> => {
    Object.assign(effort, { clicks: 0, keys: 0, fields: 0 })
    const began = Date.now()
    await act()
    const took = ((Date.now() - began) / 1000).toFixed(1)
    const beside = there === undefined ? '' : ` (Proxmox VE: ${there})`
    rows.push(`${what.padEnd(52)} ${effort.clicks} clicks${beside}, ${effort.keys} keys, ${effort.fields} fields, ${took} s`)
    expect(effort.clicks, what).toBeLessThanOrEqual(clicks)
    if (there !== undefined) expect(clicks, `${what}, in Proxmox VE`).toBeLessThanOrEqual(there)
  }

  await task('find a guest among 5,000', 1, 2, async () => {
    await main.getByRole('searchbox').fill(`vmid:${stopped.vmid}`)
    await main.getByRole('grid').getByRole('row').filter({ hasText: stopped.name }).click()
    await page.getByRole('heading', { level: 1, name: stopped.name }).waitFor()
  })
  await task('start it', 1, 1, async () => {
    await main.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText(`Start ${stopped.name}: succeeded.`).waitFor()
  })
  await until(
    'an alert is raised',
    async () => (await caller.must<{ rule: string }[]>('GET', '/api/v1/alerts')).some((one) => one.rule === 'busy'),
    6 * limit,
  )
  await task('see why it is slow', 1, 1, async () => {
    await main.getByRole('list', { name: 'Open alerts' }).getByRole('link').first().click()
    await main.getByRole('region', { name: 'Why' }).waitFor()
  })
  await visitor.open(`/guests/${stopped.id}`)
  await task("silence a guest's alert for a day", 5, undefined, async () => {
    await main.getByRole('list', { name: 'Open alerts' }).getByRole('link').first().click()
    await main.getByRole('button', { name: 'Silence', exact: true }).click()
    const silence = page.getByRole('dialog', { name: `Silence ${stopped.name}` })
    await silence.getByLabel('Duration').selectOption('1 day')
    await silence.getByRole('button', { name: 'Silence', exact: true }).click()
    await main.getByText('Silenced by anna@example.com until').first().waitFor()
  })
  await visitor.open(`/guests/${stopped.id}`)
  await task('snapshot and roll back', 6, 6, async () => {
    await parts.getByRole('link', { name: 'Snapshots' }).click()
    await main.getByRole('button', { name: 'Take snapshot' }).click()
    const taking = page.getByRole('dialog', { name: 'Take snapshot' })
    await taking.getByLabel('Name').fill('before')
    await taking.getByRole('button', { name: 'Take snapshot' }).click()
    await page.getByText('Take snapshot before: succeeded.').waitFor()
    await backTo('before', stopped.name)
  })
  /** backTo goes back to a snapshot of the guest that is shown. */
  async function backTo(snapshot: string, guest: string): Promise<void> {
    await main.getByRole('button', { name: `Actions for ${snapshot}` }).click()
    await page.getByRole('menuitem', { name: 'Roll back' }).click()
    const back = page.getByRole('dialog', { name: `Roll back to ${snapshot}` })
    await back.getByRole('textbox').fill(guest)
    await back.getByRole('button', { name: `Roll back to ${snapshot}` }).click()
    await page.getByText(`Roll back to ${snapshot}: succeeded.`).waitFor()
  }
  await task('let one address reach a port', 3, 4, async () => {
    await parts.getByRole('link', { name: 'Firewall' }).click()
    await main.getByRole('button', { name: 'Add rule', exact: true }).click()
    const form = page.getByRole('dialog', { name: 'Add rule' })
    await form.getByRole('combobox', { name: 'Protocol' }).fill('tcp')
    await form.getByRole('combobox', { name: 'Source' }).fill('192.0.2.7')
    await form.getByLabel('Destination port', { exact: true }).fill('8443')
    await form.getByRole('button', { name: 'Save rule' }).click()
    await form.waitFor({ state: 'detached' })
    await main.getByRole('button', { name: /^Rule \d+: in ACCEPT tcp .*dport 8443/ }).waitFor()
  })
  await task('find out why a packet is dropped', 2, undefined, async () => {
    await main.getByRole('link', { name: 'Packet test' }).click()
    await main.getByLabel('Destination port', { exact: true }).fill('8080')
    await main.getByRole('button', { name: 'Test packet' }).click()
    const result = main.getByRole('region', { name: 'Result' })
    await result.getByText('dropped').first().waitFor()
    await result.getByText('different destination port').first().waitFor()
  })
  await task('add a bridge', 6, 7, async () => {
    await pages.getByRole('link', { name: 'Network' }).click()
    await main.getByRole('link', { name: 'pve1', exact: true }).click()
    await main.getByRole('button', { name: 'New bridge' }).click()
    const form = page.getByRole('dialog', { name: 'New bridge' })
    await form.getByRole('button', { name: 'Stage change' }).click()
    await main.getByRole('button', { name: 'Apply…' }).click()
    const sure = page.getByRole('dialog', { name: 'Apply network changes on pve1' })
    await sure.getByRole('textbox').fill('pve1')
    await sure.getByRole('button', { name: 'Apply network changes on pve1' }).click()
    await page.getByText('Apply network changes on pve1: succeeded.').waitFor()
  })
  // A rule for it is there from the start: it needs only somebody to send its alerts to.
  const rules = await caller.must<{ kind: string; enabled: boolean }[]>('GET', '/api/v1/alert-rules?per_page=500')
  expect(rules.filter((one) => one.kind === 'backup_stale').map((one) => one.enabled)).toEqual([true])
  await task('get a message when a backup is late', 6, undefined, async () => {
    await pages.getByRole('link', { name: 'Alerts' }).click()
    await main.getByRole('link', { name: 'Channels' }).click()
    await main.getByRole('button', { name: 'Create channel' }).first().click()
    const form = page.getByRole('dialog', { name: 'Create channel' })
    await form.getByLabel('Type', { exact: true }).selectOption('webhook')
    await form.getByLabel('Name').fill('my phone')
    await form.getByLabel('URL').fill('http://127.0.0.1:9/hook')
    await form.getByRole('button', { name: 'Save channel' }).click()
    await main.getByRole('heading', { name: 'my phone' }).waitFor()
  })
  await visitor.open(`/guests/${busy.id}`)
  await task('find who stopped a guest last week', 1, undefined, async () => {
    await parts.getByRole('link', { name: 'History' }).click()
    await page.getByRole('list', { name: 'History' }).getByText('force-stopped it.').waitFor()
  })
  await task('upload an ISO and make a VM from it', 9, 16, async () => {
    await pages.getByRole('link', { name: 'Storage' }).click()
    await main.getByRole('link', { name: 'local', exact: true }).first().click()
    await main.getByRole('button', { name: 'Upload files' }).click()
    await main.getByLabel('Files', { exact: true }).setInputFiles([join(folder, 'small.iso')])
    await main.getByRole('button', { name: 'Upload 1 file' }).click()
    await page.getByText('Upload small.iso: succeeded.').waitFor()
    await pages.getByRole('link', { name: 'Guests' }).click()
    await page.getByRole('button', { name: 'Create VM' }).click()
    await main.getByLabel('ISO storage').selectOption('local')
    await main.getByRole('combobox', { name: 'ISO image', exact: true }).fill('small')
    await page.keyboard.press('Enter')
    await main.getByLabel('Name', { exact: true }).fill('made-from-it')
    await main.getByRole('button', { name: 'Create VM' }).click()
    await page.getByText('Create made-from-it: succeeded.').waitFor()
  })
  await visitor.open(`/guests/${spare.id}`)
  await task('clone a VM', 3, 3, async () => {
    await act(spare.name, 'Clone')
    const cloning = page.getByRole('dialog', { name: `Clone ${spare.name}` })
    await cloning.getByLabel('Name of the clone').fill('second')
    await cloning.getByRole('button', { name: 'Clone', exact: true }).click()
    await page.getByText(`Clone ${spare.name}: succeeded.`).waitFor()
  })
  await visitor.open(`/guests/${spare.id}`)
  await task('add a disk to a VM', 3, 4, async () => {
    await parts.getByRole('link', { name: 'Options' }).click()
    await main.getByRole('button', { name: 'Add disk' }).click()
    const disk = page.getByRole('dialog', { name: `Add disk to ${spare.name}` })
    await disk.getByLabel('Size (GiB)').fill('2')
    await disk.getByRole('button', { name: 'Add disk' }).click()
    await page.getByText(`was added to ${spare.name}.`).waitFor()
  })
  await visitor.open(`/guests/${moved.id}`)
  await task('move a VM to another node', 4, 4, async () => {
    await act(moved.name, 'Migrate')
    const moving = page.getByRole('dialog', { name: `Migrate ${moved.name}`, exact: true })
    await moving.getByRole('combobox', { name: 'Target node', exact: true }).fill(moved.to)
    await page.keyboard.press('Enter')
    await moving.getByText(`The guest can be migrated to ${moved.to}.`).waitFor()
    await moving.getByRole('button', { name: 'Migrate', exact: true }).click()
    const sure = page.getByRole('dialog', { name: `Migrate ${moved.name} to ${moved.to}` })
    await sure.getByRole('button', { name: `Migrate ${moved.name}` }).click()
    await page.getByText(`Migrate ${moved.name}: succeeded.`).waitFor()
  })
  await visitor.open(`/guests/${spare.id}`)
  await task('back up a guest and restore it over itself', 7, 7, async () => {
    await parts.getByRole('link', { name: 'Backups' }).click()
    await main.getByRole('button', { name: 'Back up now' }).click()
    await page
      .getByRole('dialog', { name: `Back up ${spare.name}` })
      .getByRole('button', { name: 'Back up', exact: true })
      .click()
    await page.getByText(`Back up ${spare.name}: succeeded.`).waitFor()
    await main.getByRole('button', { name: /^Actions for the backup/ }).click()
    await page.getByRole('menuitem', { name: 'Restore over this guest' }).click()
    await page
      .getByRole('dialog', { name: `Restore ${spare.name}` })
      .getByRole('button', { name: 'Restore', exact: true })
      .click()
    const sure = page.getByRole('dialog', { name: `Overwrite ${spare.name} with the backup` })
    await sure.getByRole('textbox').fill(spare.name)
    await sure.getByRole('button', { name: `Overwrite ${spare.name} with the backup` }).click()
    await page.getByText(`Restore ${spare.name}: succeeded.`).waitFor()
  })
  /** act takes an entry of the menu of the guest that is shown. */
  async function act(guest: string, entry: string): Promise<void> {
    await main.getByRole('button', { name: `Actions for ${guest}`, exact: true }).click()
    await page.getByRole('menuitem', { name: entry, exact: true }).click()
  }
  await task('add a colleague who may only look after one team', 12, undefined, async () => {
    await pages.getByRole('link', { name: 'People' }).click()
    await page.getByRole('button', { name: 'Add user' }).click()
    const adding = page.getByRole('dialog', { name: 'Add user' })
    await adding.getByLabel('Email').fill('cora@example.com')
    await adding.getByLabel(/^Global role/).selectOption('')
    await adding.getByRole('button', { name: 'Add user' }).click()
    const password = page.getByRole('dialog', { name: 'Hand over this password' })
    await password.getByLabel('I have handed it over').check()
    await password.getByRole('button', { name: 'Done' }).click()
    await main.getByRole('button', { name: 'Actions for cora@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Edit roles' }).click()
    const roles = page.getByRole('dialog', { name: 'Roles of cora@example.com' })
    await roles.getByLabel('Shop').selectOption('operator')
    const row = main.getByRole('row', { includeHidden: true }).filter({ hasText: 'cora@example.com' })
    await row.getByRole('cell', { includeHidden: true }).first().getByText('operator').waitFor()
    await roles.getByRole('button', { name: 'Done' }).click()
  })
  // There is no machine that a journey could log in to: it is told to have a log-in, and what is asked for is kept.
  const sent: unknown[] = []
  await page.route(/\/catalog\/[^/]+\/plan\?/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), blockers: [] } })
  })
  await page.route(/\/catalog\/[^/]+\/install(\?|$)/, async (route) => {
    if (route.request().url().includes('plan=true')) {
      const plan = { effects: [], warnings: [], blockers: [], confirm_phrase: null, is_self: false, digest: 'x' }
      return route.fulfill({ status: 200, json: plan })
    }
    sent.push(route.request().postDataJSON())
    const [job] = await caller.must<object[]>('GET', '/api/v1/jobs')
    return route.fulfill({ status: 202, json: { job, is_self: false } })
  })
  await task('install an app, having looked at its files', 6, undefined, async () => {
    await pages.getByRole('link', { name: 'Catalog' }).click()
    await main.getByRole('link', { name: 'Hello' }).click()
    await main.getByRole('button', { name: 'Install' }).click()
    await main.getByLabel('I have reviewed these files').check()
    await main.getByLabel('Name of the app').fill('my-hello')
    await main.getByRole('button', { name: 'Continue' }).click()
    const sure = page.getByRole('dialog', { name: 'Install my-hello' })
    await sure.getByRole('textbox').fill('my-hello')
    await sure.getByRole('button', { name: 'Install my-hello' }).click()
    await page.waitForURL(/\/jobs\/\d+$/)
    expect(sent).toHaveLength(1)
  })
  await page.route(/\/apps\/update-all(\?|$)/, async (route) => {
    const [job] = await caller.must<object[]>('GET', '/api/v1/jobs')
    const effect = { kind: 'app', text: 'It is updated.', name: null, size_bytes: null, at: null }
    const plan = { effects: [effect], warnings: [], blockers: [], confirm_phrase: null, is_self: false, digest: 'x' }
    const asked = route.request().url().includes('plan=true') ? plan : { jobs: [job], skipped: [] }
    return route.fulfill({ status: asked === plan ? 200 : 202, json: asked })
  })
  await task('update all apps', 6, undefined, async () => {
    await pages.getByRole('link', { name: 'Apps' }).click()
    await main.getByRole('button', { name: 'Update all' }).click()
    const all = page.getByRole('dialog', { name: 'Update all' })
    await all.getByLabel('I approve the files of every update').check()
    await all.getByRole('button', { name: 'Preview' }).click()
    await all.getByRole('button', { name: 'Update apps' }).click()
    await page.getByRole('dialog', { name: 'Update 1 app' }).getByRole('button', { name: 'Update apps' }).click()
    await all.getByText('1 update requested').waitFor()
  })
  await visitor.open(`/guests/${container.id}`)
  await task('put an old version back after an update', 4, 4, async () => {
    await parts.getByRole('link', { name: 'Snapshots' }).click()
    await backTo('before-update', container.name)
  })
  console.log(rows.join('\n'))
  await visitor.leave()
})
