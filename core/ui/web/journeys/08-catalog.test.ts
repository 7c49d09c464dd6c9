// The catalog: a source is switched on by who has read whom one trusts, an entry is read file by file before it runs, changed bytes are
// refused; a container is adopted, its script is edited, conflicts and is taken back, and an update shows what it changes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browser, caller, cluster, service, stage } from './stage'
import { until, Visitor } from './start'

/** Texts of others are text, whatever is in them. */
const markup = `<img src=x onerror="document.title='taken'">`
const hostile = `${markup}${String.fromCharCode(0x202e)}${String.fromCharCode(7)}`
const long = hostile.repeat(200)

let folder: string
stage()
beforeAll(async () => {
  await caller.must('PATCH', '/api/v1/settings', { 'poll.interval_s': 5 })
  folder = mkdtempSync(join(tmpdir(), 'hostler-catalog-'))
  write('hello', 'echo "1.0"\n')
  write('other', 'echo "other"\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** write makes an app of the folder, with this update. */
function write(slug: string, update: string): void {
  const dir = join(folder, slug)
  mkdirSync(join(dir, 'lib'), { recursive: true })
  const look = {
    name: slug === 'hello' ? 'Hello' : `Other ${markup}`,
    description: `It says hello. ${markup}`,
    categories: ['Tools'],
    tags: ['small'],
    website: 'https://example.org',
    web: { protocol: 'http', port: 8080, path: '/' },
    defaults: { cores: 2, memory_mb: 512, disk_gb: 4, os: 'debian', os_version: '13', privileged: false },
    notes: [{ level: 'warning', text: `It is loud. ${markup}` }],
    privileges: [{ key: 'gpu', text: 'It gets the graphics devices.' }],
    overrides: [
      { key: 'greeting', type: 'line', description: 'What it says.', default: 'hello' },
      { key: 'loud', type: 'switch', description: 'Whether it shouts.' },
      { key: 'workers', type: 'whole', min: 1, max: 8, description: 'How many there are.' },
    ],
  }
  writeFileSync(join(dir, 'app.json'), JSON.stringify(look))
  writeFileSync(join(dir, 'ct.sh'), '#!/bin/bash\npct create "$var_ctid"\ncurl -fsSL https://example.org/app.tar.gz\n')
  writeFileSync(join(dir, 'install.sh'), `echo "<b>${slug}</b>"\necho "Completed successfully!"\n`)
  writeFileSync(join(dir, 'update.sh'), update)
  writeFileSync(join(dir, 'lib/common.sh'), 'said() { echo "$1"; }\n')
}

interface Job {
  id: number
  status: string
}

async function refresh(): Promise<Job> {
  const { job } = await caller.must<{ job: Job }>('POST', '/api/v1/catalog/refresh')
  await until('the catalog is refreshed', async () => {
    const now = await caller.must<Job>('GET', `/api/v1/jobs/${job.id}`)
    return now.status === 'succeeded'
  })
  return job
}

/** look holds a page against what every page must be, wide and narrow, light and dark. */
async function look(visitor: Visitor, name: string): Promise<void> {
  const { page } = visitor
  await visitor.accessible(name)
  await visitor.fits(name)
  await visitor.picture(name)
  await page.emulateMedia({ colorScheme: 'dark' })
  await visitor.accessible(`${name} in the dark`, true)
  await visitor.picture(`${name}-dark`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 360, height: 720 })
  await visitor.fits(`${name} at 360`)
  await visitor.picture(`${name}-360`)
  await page.setViewportSize({ width: 1280, height: 720 })
}

/** answer changes an answer of the service. */
async function answer(route: Route, change: (body: never) => unknown): Promise<void> {
  const response = await route.fetch()
  if (!response.ok()) return route.fulfill({ response })
  return route.fulfill({ response, json: change((await response.json()) as never) })
}

test('a source, an entry, and consent to exactly its bytes', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  await visitor.open('/catalog')
  await visitor.logIn()

  // Nothing is there before somebody has read whom one trusts by it.
  await main.getByText('The catalog is empty.').waitFor()
  await look(visitor, 'catalog-empty')
  await main.getByRole('navigation', { name: 'Catalog views' }).getByRole('link', { name: 'Sources' }).click()
  const card = main.getByRole('region', { name: /A folder on this machine/ })
  await card.getByText('nobody yet').waitFor()
  await look(visitor, 'catalog-sources')
  await card.getByRole('button', { name: 'Enable' }).click()
  const form = page.getByRole('dialog', { name: 'Source A folder on this machine' })
  await form.getByText('Anyone who can write to the folder decides what runs as root').waitFor()
  const on = form.getByRole('button', { name: 'Enable' })
  expect(await on.getAttribute('aria-disabled')).toBe('true')
  visitor.provokes(422, 409, 502)
  await form.getByLabel('I have read this and trust them').check()
  await form.getByLabel('folder').fill('relative')
  await on.click()
  await form.locator('.fault, .trouble').first().waitFor()
  await visitor.accessible('a source that is refused')
  await visitor.picture('catalog-source-refused')
  await form.getByLabel('folder').fill(folder)
  await form.getByRole('button', { name: 'As a command' }).click()
  await form.getByText(/curl .*trust_digest/).waitFor()
  await visitor.picture('catalog-source-form')
  await on.click()
  await card.getByText('On', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Refresh catalog' }).click()
  await page.getByText('Refresh catalog: succeeded.').waitFor()

  // Found by words and categories; a typo is no obstacle; the view is in the address.
  await main.getByRole('navigation', { name: 'Catalog views' }).getByRole('link', { name: 'Entries' }).click()
  await main.getByRole('link', { name: 'Hello' }).waitFor()
  await look(visitor, 'catalog')
  await page.keyboard.press('/')
  await page.keyboard.type('helo')
  await page.waitForURL(/q=helo/)
  await main.getByText('1 entry').waitFor()
  await main.getByLabel('View', { exact: true }).selectOption('list')
  await page.waitForURL(/view=list/)
  await main.getByRole('table').waitFor()
  await look(visitor, 'catalog-list')
  await main.getByRole('searchbox').fill('nothing is called so')
  await main.getByText('No matches.').waitFor()
  await visitor.picture('catalog-nomatch')
  await main.getByRole('button', { name: 'Clear search' }).click()
  await main.getByRole('link', { name: 'Hello' }).click()

  await main.getByRole('heading', { level: 1, name: 'Hello' }).waitFor()
  await main.getByText('It gets the graphics devices.').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  await look(visitor, 'catalog-entry')
  await main.getByRole('button', { name: 'Install' }).click()

  // All that would run, with what is in the way: the service has no log-in at the machine.
  await main.getByRole('heading', { name: /5 files to run|4 files to run/ }).waitFor()
  await main.getByRole('heading', { name: 'This cannot continue.' }).waitFor()
  await main.getByText('Nobody has approved files of this entry').waitFor()
  await look(visitor, 'catalog-consent-blocked')
  await main.getByRole('button', { name: 'install.sh' }).click()
  const file = page.getByRole('dialog', { name: 'install.sh' })
  await file.getByText('echo "<b>hello</b>"').waitFor()
  expect(await file.locator('b').count()).toBe(0)
  await visitor.accessible('a file')
  await visitor.picture('catalog-file')
  await page.keyboard.press('Escape')
  await file.waitFor({ state: 'detached' })
  const go = main.getByRole('button', { name: 'Continue' })
  expect(await go.getAttribute('aria-disabled')).toBe('true')

  // From here on the machine is told to have a log-in: there is none that a journey could have. The first answer names bytes that the
  // service does not have, as they would be had they changed meanwhile: it refuses them, and they must be agreed to anew.
  let stale = true
  await page.route(/\/catalog\/[^/]+\/plan\?/, (route) =>
    answer(route, (plan: Record<string, unknown>) => {
      const sum = stale ? '0'.repeat(64) : plan.sum
      return { ...plan, blockers: [], sum }
    }),
  )
  const plans: string[] = []
  page.on('request', (request) => request.url().includes('/plan?') && plans.push(request.url()))
  await page.reload()
  const read = main.getByLabel('I have reviewed these files')
  await read.check()
  await main.getByLabel('Name of the app').fill('my-hello')
  await main.getByLabel('workers').fill('3')
  await main.getByLabel('loud').selectOption('yes')
  await main.getByRole('button', { name: 'As a command' }).click()
  await main.getByText(/curl .*"workers":3/).waitFor()
  await visitor.picture('catalog-install-form')
  expect(plans).toHaveLength(1)
  stale = false
  await go.click()
  await main.getByText('Nothing was run. The files have changed since you approved them.').waitFor()
  expect(await read.isChecked()).toBe(false)
  expect(await go.getAttribute('aria-disabled')).toBe('true')
  await look(visitor, 'catalog-changed')

  // Agreed to again, the name is typed; then the job has it. The service's own answers are those of a host with a log-in.
  const job = await refresh()
  const whole = await caller.must<Record<string, unknown>>('GET', `/api/v1/jobs/${job.id}`)
  const sent: unknown[] = []
  await page.route(/\/catalog\/[^/]+\/install(\?|$)/, async (route) => {
    if (route.request().url().includes('plan=true')) {
      const effect = { kind: 'host', text: '5 files of the bundle run as root', name: 'demo', size_bytes: null, at: null }
      const plan = { effects: [effect], warnings: [markup], blockers: [], confirm_phrase: null, is_self: false, digest: 'x' }
      return route.fulfill({ status: 200, json: plan })
    }
    sent.push(route.request().postDataJSON())
    return route.fulfill({ status: 202, json: { job: { ...whole, kind: 'app.install' }, is_self: false } })
  })
  await read.check()
  await go.click()
  const sure = page.getByRole('dialog', { name: 'Install my-hello' })
  await sure.getByText('5 files of the bundle run as root').waitFor()
  const yes = sure.getByRole('button', { name: 'Install my-hello' })
  expect(await yes.getAttribute('aria-disabled')).toBe('true')
  await sure.getByRole('textbox').fill('my-helo')
  await page.keyboard.press('Enter')
  expect(sent).toHaveLength(0)
  await visitor.accessible('install asked')
  await visitor.picture('catalog-install-asked')
  await sure.getByRole('textbox').fill('my-hello')
  await yes.click()
  await page.waitForURL(new RegExp(`/jobs/${job.id}$`))
  const { sum } = await caller.must<{ sum: string }>('GET', '/api/v1/catalog/folder%2Fhello/plan?host=1')
  expect(sent).toEqual([{ host_id: 1, name: 'my-hello', consent: true, sum, overrides: { workers: 3, loud: true } }])

  // An install that has failed tells what is left, and destroys it after its name was typed.
  await failedInstall(page, job.id)
  await visitor.open(`/jobs/${job.id}`)
  await main.getByRole('button', { name: 'Check for a container' }).click()
  await main.getByText(`job ${job.id} is not an installation`).waitFor()
  await look(visitor, 'catalog-left')
  let discarded = ''
  await page.route(/\/catalog\/installs\//, (route) => {
    if (!route.request().url().includes('plan=true')) {
      discarded = route.request().postData() ?? ''
      return route.fulfill({ status: 202, json: { job: whole, is_self: false } })
    }
    const effect = { kind: 'guest', text: `The container ${markup} is destroyed`, name: null, size_bytes: null, at: null }
    const plan = { effects: [effect], warnings: [], blockers: [], confirm_phrase: 'my-hello', is_self: false, digest: 'x' }
    return route.fulfill({ status: 200, json: plan })
  })
  await main.getByRole('button', { name: 'Check for a container' }).click()
  const destroy = page.getByRole('dialog', { name: 'Delete container' })
  await destroy.getByRole('textbox').fill('my-hello')
  await visitor.accessible('discard asked')
  await visitor.picture('catalog-discard-asked')
  await destroy.getByRole('button', { name: 'Delete container' }).click()
  await destroy.waitFor({ state: 'detached' })
  expect(JSON.parse(discarded)).toEqual({ confirm: 'my-hello' })

  // A source that has failed, has lost entries and says something else by now waits for an owner.
  const held = { at: '2026-01-02T03:04:05Z', pin: 'p', of: 9, removed: ['hello', markup, 'third'], digest: 'd'.repeat(64) }
  const failure = { reason: 'timeout', text: long, at: '2026-01-02T03:04:05Z', count: 3 }
  await page.route(/\/catalog\/sources$/, (route) =>
    answer(route, (all: { name: string }[]) =>
      all.map((one) => ({ ...one, ...(one.name === 'folder' ? { held, failure, trust: long, trust_accepted: false } : {}) })),
    ),
  )
  let accepted = ''
  await page.route(/\/catalog\/sources\/folder\/accept$/, (route) => {
    accepted = route.request().postData() ?? ''
    return route.fulfill({ status: 202, json: { job: whole } })
  })
  await visitor.open('/catalog?show=sources')
  await card.getByText('Paused: its trust statement has changed').waitFor()
  await card.getByText('The last refresh would remove 3 of 9 entries.').waitFor()
  await card.getByText('Show entries').click()
  await look(visitor, 'catalog-source-waits')
  await card.getByRole('button', { name: 'Remove them' }).click()
  const loss = page.getByRole('dialog', { name: 'Remove 3 entries of A folder on this machine' })
  await visitor.picture('catalog-loss-asked')
  await loss.getByRole('button', { name: 'Remove them' }).click()
  await loss.waitFor({ state: 'detached' })
  expect(JSON.parse(accepted)).toEqual({ digest: held.digest })
  expect(await page.title()).not.toContain('taken')
  await visitor.leave()
})

/** failedInstall tells a job as an install that has failed. */
async function failedInstall(page: Page, id: number): Promise<void> {
  const failed = { kind: 'app.install', status: 'failed', error: `the container 120 (${hostile}) is kept` }
  await page.route(/\/api\/v1\/jobs(\/\d+)?(\?|$)/, (route) =>
    answer(route, (body: { id: number } | { id: number }[]) => {
      if (!Array.isArray(body)) return { ...body, ...(body.id === id ? failed : {}) }
      return body.map((one) => ({ ...one, ...(one.id === id ? failed : {}) }))
    }),
  )
}

test('adopt, script, updates', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  visitor.provokes(404, 409, 422, 501)
  await cluster.order({ op: 'create', type: 'lxc', node: 'pve1', vmid: 777, name: 'hel-lo', status: 'running' })
  await until('the container is seen', async () => {
    const all = await caller.must<{ name: string }[]>('GET', '/api/v1/apps/discovered')
    return all.some((one) => one.name === 'hel-lo')
  })
  await visitor.open('/apps')
  await visitor.logIn()
  await main.getByText('No apps yet.').waitFor()
  await look(visitor, 'apps-none')
  await main.getByRole('button', { name: 'Adopt containers' }).click()

  // The entry is guessed by the name; a wrong one is told at its row.
  const slug = main.getByLabel('Catalog entry for hel-lo')
  await slug.waitFor()
  expect(await slug.inputValue()).toBe('folder/hello')
  await main.getByLabel('Adopt hel-lo').check()
  await slug.fill('no-such')
  await main.getByRole('button', { name: 'Adopt 1' }).click()
  await main.locator('.bad').first().waitFor()
  await look(visitor, 'apps-adopt')
  await slug.fill('folder/hello')
  await main.getByLabel('Port for hel-lo').fill('8081')
  await main.getByRole('button', { name: 'Adopt 1' }).click()
  await page.getByText('1 container was adopted.').waitFor()
  const name = main.getByRole('rowheader', { name: 'hel-lo' })
  await name.getByRole('link').waitFor()
  await main.getByText('needs a first manual update').waitFor()
  await look(visitor, 'apps')
  await name.getByRole('link').click()

  // What an app has beyond its container.
  await main.getByRole('region', { name: 'Web page' }).getByText('The port was set here.').waitFor()
  const update = main.getByRole('region', { name: 'Update' })
  await update.getByText('An update is available.').waitFor()
  await update.getByText('The installed version is unknown.').waitFor()
  await main.getByRole('button', { name: 'Scan for open ports' }).click()
  await main.getByRole('link', { name: 'Go to SSH access' }).waitFor()
  await look(visitor, 'app')
  await main.getByRole('button', { name: 'Edit', exact: true }).click()
  const change = page.getByRole('dialog', { name: 'Edit hel-lo' })
  await change.getByLabel('Web port').fill('99999')
  await change.getByRole('button', { name: 'Edit', exact: true }).click()
  await change.locator('.fault').waitFor()
  await visitor.accessible('changing an app')
  await visitor.picture('app-change')
  await change.getByLabel('Web port').fill('8080')
  await change.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByText('hel-lo was changed.').waitFor()

  // Its script: the catalog's, one's own, and what somebody else writes meanwhile.
  const parts = main.getByRole('navigation', { name: 'Guest sections' })
  await parts.getByRole('link', { name: 'Script' }).click()
  await main.getByText('The app has no script.').waitFor()
  await visitor.picture('script-none')
  const revert = async (n: number): Promise<void> => {
    await main.getByRole('button', { name: "Restore the catalog's script" }).click()
    await page.getByRole('dialog').getByRole('button', { name: "Restore the catalog's script" }).click()
    await page.getByText(`Version ${n} is the catalog's script.`).waitFor()
    await main.getByText("Identical to the catalog's script.").waitFor()
  }
  await revert(1)
  await main.getByRole('button', { name: 'Edit script' }).click()
  const editor = page.getByRole('dialog', { name: 'Edit script' })
  const text = editor.getByLabel('Script')
  expect(await text.inputValue()).toContain('echo "1.0"')
  await text.fill(`echo "1.0"\necho "${markup}"\n`)
  await visitor.accessible('the editor')
  await visitor.picture('script-editor')
  const { id } = (await caller.must<{ id: number }[]>('GET', '/api/v1/apps'))[0]!
  await caller.must('PUT', `/api/v1/apps/${id}/script`, { content: 'echo "theirs"\n' })
  await editor.getByRole('button', { name: 'Save as new version' }).click()
  await editor.getByText('Version 2 was saved in the meantime').waitFor()
  await editor.getByText('echo "theirs"').waitFor()
  await visitor.accessible('a conflict')
  await visitor.picture('script-conflict')
  await editor.getByRole('button', { name: 'Keep my version' }).click()
  await editor.getByRole('button', { name: 'Save as new version' }).click()
  await page.getByText('Version 3 was saved.').waitFor()
  await main.getByText('Changes from version 1').first().waitFor()
  expect(await page.locator('img').count()).toBe(0)
  await look(visitor, 'script')
  await main.getByRole('button', { name: /^Version 2/ }).click()
  await page.waitForURL(/version=2/)
  await main.getByText('earlier version').waitFor()
  await parts.getByRole('link', { name: 'App' }).click()
  await update.getByText('Its script was edited here.').waitFor()
  await visitor.picture('app-edited')
  await parts.getByRole('link', { name: 'Script' }).click()
  await revert(4)

  // The catalog has something newer: what is different is shown line by line, and the list tells of it.
  write('hello', 'echo "2.0"\n')
  await refresh()
  await visitor.open('/apps')
  await main.getByRole('link', { name: 'available' }).click()
  await update.getByText('An update is available.').waitFor()
  await update.getByText('+echo "2.0"').waitFor()
  await update.getByText('-echo "1.0"').waitFor()
  await look(visitor, 'app-update')
  await update.getByLabel('I have reviewed the changes').check()
  await update.getByRole('button', { name: 'Update', exact: true }).click()
  await update.getByRole('alert').waitFor()
  await visitor.picture('app-update-refused')
  await visitor.open('/apps')
  await main.getByRole('button', { name: 'Update all' }).click()
  const all = page.getByRole('dialog', { name: 'Update all' })
  await all.getByLabel('I approve the files of every update').check()
  await all.getByRole('button', { name: 'Preview' }).click()
  await all.getByText('hel-lo is skipped:').waitFor()
  await visitor.accessible('update all')
  await visitor.picture('apps-update-all')
  await page.keyboard.press('Escape')

  // What came of an update, in words; and one that is asked for, as a host with a log-in would have it.
  const outcomes = {
    updated: 'Updated.',
    nothing_to_do: 'Nothing to do.',
    rolled_back: 'Failed and rolled back.',
    needs_human: 'Needs attention.',
  }
  let outcome = ''
  await page.route(/\/apps\/\d+\/update$/, (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    return answer(route, (state: Record<string, unknown>) => ({
      ...state,
      consent: { text: `On the host demo ${markup}`, version: 1, given: false, by: null, at: null },
      last: {
        job_id: 1,
        status: 'failed',
        outcome,
        text: hostile,
        version_before: '1.0',
        version_after: '2.0',
        exit_code: 3,
        snapshot: 'before-update-1',
        ended_at: '2026-01-02T03:04:05Z',
      },
    }))
  })
  for (const [one, sentence] of Object.entries(outcomes)) {
    outcome = one
    await visitor.open('/apps')
    await main.getByRole('link', { name: 'available' }).click()
    await update.getByText(sentence).waitFor()
    await visitor.accessible(one)
    await visitor.picture(`app-${one}`)
  }
  const act = update.getByRole('button', { name: 'Update', exact: true })
  expect(await act.getAttribute('aria-disabled')).toBe('true')
  await update.getByLabel('I have reviewed the changes').check()
  let consented: unknown
  await page.route(/\/apps\/\d+\/update\?plan=true/, (route) => {
    consented = route.request().postDataJSON()
    const effect = { kind: 'app', text: 'It is updated.', name: null, size_bytes: null, at: null }
    const plan = { effects: [effect], warnings: [markup], blockers: [], confirm_phrase: null, is_self: false, digest: 'x' }
    return route.fulfill({ status: 200, json: plan })
  })
  await act.click()
  const sure = page.getByRole('dialog', { name: /^Update / })
  await sure.getByText('It is updated.').waitFor()
  expect(consented).toEqual({ consent: true })
  await visitor.accessible('an update asked')
  await visitor.picture('app-update-asked')
  await page.keyboard.press('Escape')
  await sure.waitFor({ state: 'detached' })
  await visitor.leave()
})

test('hostile texts, and who may not', async () => {
  const person = { email: 'vera@example.com', password: 'nine-purple-giraffes' }
  await caller.must('POST', '/api/v1/users', { ...person, role: 'viewer' })
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const main = page.getByRole('main')
  visitor.provokes(403)
  await page.route(/\/api\/v1\/(catalog(\/status|\/folder%2Fhello)?|apps|apps\/updates)(\?|$)/, (route) =>
    answer(route, (body: Record<string, unknown> | Record<string, unknown>[]) => {
      const texts = [
        'name',
        'summary',
        'description',
        'licence',
        'website',
        'docs',
        'credentials',
        'config_path',
        'title',
        'version',
        'host',
      ]
      const spoil = (one: Record<string, unknown>): Record<string, unknown> => {
        const copy = { ...one }
        for (const key of texts) if (key in copy) copy[key] = key === 'description' || key === 'summary' ? long : hostile
        return copy
      }
      if (Array.isArray(body)) return body.map(spoil)
      const { sources, categories } = body as Record<string, Record<string, unknown>[]>
      return {
        ...spoil(body),
        ...(sources
          ? {
              sources: sources.map((one) => ({
                ...one,
                title: hostile,
                failure: { reason: 'timeout', text: long, at: null, count: 2 },
              })),
            }
          : {}),
        ...(categories ? { categories: categories.map((one) => ({ ...one, name: hostile })) } : {}),
      }
    }),
  )
  await visitor.open('/catalog')
  await visitor.logIn(person)
  const menu = page.getByRole('navigation', { name: 'Menu' })
  await menu.getByRole('link', { name: 'Apps' }).waitFor()
  await main.locator('.card').first().waitFor()
  await main.getByText('Requires the role admin here.').waitFor()
  for (const [path, sign] of [
    ['/catalog', '.card'],
    ['/catalog?view=list', 'table'],
    ['/catalog?show=sources', '.empty'],
    ['/catalog/folder%2Fhello', '.card'],
    ['/apps', 'table'],
    ['/apps/adopt', 'table'],
  ] as const) {
    await visitor.open(path)
    await main.locator(sign).first().waitFor()
    expect(await page.locator('img').count(), path).toBe(0)
    await look(visitor, `hostile${path.replaceAll(/\W+/g, '-')}`)
  }
  await visitor.open('/catalog/folder%2Fhello/install')
  await main.getByText('Requires the role admin').first().waitFor()
  await visitor.picture('catalog-install-viewer')
  expect(await page.title()).not.toContain('taken')
  await visitor.leave()
})
