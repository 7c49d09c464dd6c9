// Ten common tasks, with the clicks, keys and fields that each takes, and its seconds. They begin where one is after the log-in, or where
// the task before has led; the clicks are held, and the seconds only told, for the machine may be busy.
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

test('ten common tasks', async () => {
  // What the tasks are about: nothing of it is theirs.
  await caller.must('PATCH', '/api/v1/settings', { 'poll.interval_s': 5 })
  const all = await caller.must<Guest[]>('GET', '/api/v1/guests')
  const some = (kind: string, status: string): Guest =>
    all.find((one) => one.kind === kind && one.status === status && !one.template)!
  const [stopped, container, busy] = [some('vm', 'stopped'), some('container', 'running'), some('vm', 'running')]
  await caller.must('PUT', `/api/v1/firewall/cluster/${stopped.host_id}/options`, { enable: 1 })
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
  /** task holds how many clicks a task takes. */
  const task = async (what: string, clicks: number, act: () => Promise<void>): Promise<void> => {
    Object.assign(effort, { clicks: 0, keys: 0, fields: 0 })
    const began = Date.now()
    await act()
    const took = ((Date.now() - began) / 1000).toFixed(1)
    rows.push(`${what.padEnd(52)} ${effort.clicks} of ${clicks} clicks, ${effort.keys} keys, ${effort.fields} fields, ${took} s`)
    expect(effort.clicks, what).toBeLessThanOrEqual(clicks)
  }

  await task('find a guest among 5,000', 1, async () => {
    await main.getByRole('searchbox').fill(`vmid:${stopped.vmid}`)
    await main.getByRole('grid').getByRole('row').filter({ hasText: stopped.name }).click()
    await page.getByRole('heading', { level: 1, name: stopped.name }).waitFor()
  })
  await task('start it', 1, async () => {
    await main.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText(`Start ${stopped.name}: succeeded.`).waitFor()
  })
  await until(
    'an alert is raised',
    async () => (await caller.must<{ rule: string }[]>('GET', '/api/v1/alerts')).some((one) => one.rule === 'busy'),
    6 * limit,
  )
  await task('see why it is slow', 1, async () => {
    await main.getByRole('list', { name: 'Open alerts' }).getByRole('link').first().click()
    await main.getByRole('region', { name: 'Why' }).waitFor()
  })
  await visitor.open(`/guests/${stopped.id}`)
  await task('snapshot and roll back', 6, async () => {
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
  await task('let one address reach a port', 3, async () => {
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
  await visitor.open(`/guests/${busy.id}`)
  await task('find who stopped a guest last week', 1, async () => {
    await parts.getByRole('link', { name: 'History' }).click()
    await page.getByRole('list', { name: 'History' }).getByText('force-stopped it.').waitFor()
  })
  await task('upload an ISO and make a VM from it', 9, async () => {
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
  await task('add a colleague who may only look after one team', 12, async () => {
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
  await task('install an app, having looked at its files', 6, async () => {
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
  await visitor.open(`/guests/${container.id}`)
  await task('put an old version back after an update', 4, async () => {
    await parts.getByRole('link', { name: 'Snapshots' }).click()
    await backTo('before-update', container.name)
  })
  console.log(rows.join('\n'))
  await visitor.leave()
})
