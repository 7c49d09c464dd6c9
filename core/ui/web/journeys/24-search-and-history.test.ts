// Words and fields over each list, what cannot be meant told; the palette finds what is no guest; a guest's history as one story; what a
// console showed, played again; the load that the service causes.
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { until, Visitor } from './start'

const viewer = { email: 'vera@example.com', password: 'nine-purple-giraffes' }
const hostile = `<img src=x onerror="document.title='taken'">`

stage()
beforeAll(async () => {
  await caller.must('POST', '/api/v1/users', { ...viewer, role: 'viewer' })
})

interface Entry {
  id: number
  app_id: number | null
  guest_ref: string
  name: string
  host_id: number
  node: string
  kind: string
  status: string
  template: boolean
}
const guests = (): Promise<Entry[]> => caller.must<Entry[]>('GET', '/api/v1/guests')
const vm = async (status: string): Promise<Entry> =>
  (await guests()).find((one) => one.kind === 'vm' && one.status === status && !one.template)!

interface Job {
  id: number
  status: string
}
/** done waits for the end of what was asked for. */
async function done(asked: { job: Job }): Promise<Job> {
  return until('the job is done', async () => {
    const job = await caller.must<Job>('GET', `/api/v1/jobs/${asked.job.id}`)
    return ['queued', 'running'].includes(job.status) ? undefined : job
  })
}
const main = (page: Page) => page.getByRole('main')
const search = (page: Page) => main(page).getByRole('searchbox').first()
const asked = (page: Page): string | null => new URL(page.url()).searchParams.get('q')

test('words and fields over lists', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await visitor.open('/guests')
  await visitor.logIn()
  await page.getByRole('grid').getByRole('row').nth(1).waitFor()

  // Completed by keyboard: the field, then its value.
  await page.keyboard.press('/')
  await page.keyboard.type('stat')
  await page.getByRole('option', { name: 'status:' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: 'stopped' }).waitFor()
  await visitor.accessible('what a field offers')
  await visitor.picture('search-offers')
  await page.keyboard.type('stopp')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  expect(await search(page).inputValue()).toBe('status:stopped ')
  const stopped = (await guests()).filter((one) => one.status === 'stopped').length
  await page.getByText(new RegExp(`^${stopped} of`)).waitFor()
  await until('it is in the address', () => asked(page)?.trim() === 'status:stopped')
  await page.reload()
  await page.getByText(new RegExp(`^${stopped} of`)).waitFor()

  // What cannot be meant narrows nothing, and is told.
  const all = (await guests()).length
  await search(page).fill('cpu:>x')
  await page.getByText('cpu takes a number').waitFor()
  await page.getByText(`${all} guests`, { exact: true }).waitFor()
  await visitor.accessible('a fault of the filter')
  await visitor.picture('search-fault')
  await search(page).fill(`name:"${hostile}`)
  await page.getByText('The quotation mark is not closed').waitFor()
  await search(page).fill('x'.repeat(10_240))
  await page.getByText('Only the first 1000 characters are used.').waitFor()
  expect(await page.title()).not.toBe('taken')

  // Other lists take the fields that make sense there.
  const fields = [
    ['/hosts', 'status:online', 'demo', 'status:gone'],
    ['/backups', 'state:stale', '', 'age:>soon'],
    ['/storage', 'name:local', 'local', 'used:>much'],
    ['/people', 'role:viewer', viewer.email, 'role:king'],
  ] as const
  for (const [path, good, found, bad] of fields) {
    await visitor.open(`${path}?q=${encodeURIComponent(good)}`)
    if (found) await main(page).getByText(found, { exact: true }).first().waitFor()
    expect(await search(page).inputValue()).toBe(good)
    await search(page).fill(bad)
    await main(page).getByText('This filter is ignored.').waitFor()
  }
  await visitor.leave()
})

test('jobs, the trail and the palette', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await vm('stopped')
  await done(await caller.must('POST', `/api/v1/vms/${guest.id}/start`))
  await visitor.open(`/jobs?q=${encodeURIComponent(`kind:vm.start name:${guest.name}`)}`)
  await visitor.logIn()
  await main(page).getByRole('listitem').filter({ hasText: guest.name }).first().waitFor()
  await main(page).getByText('Searches the newest 1,000 jobs.').waitFor()
  await visitor.picture('search-jobs')
  await search(page).fill('status:failed')
  await main(page).getByText('No matches').waitFor()

  await visitor.open(`/audit?search=${encodeURIComponent(`target:vm:${guest.id} result:ok`)}`)
  await main(page).getByRole('listitem').filter({ hasText: 'vm.start' }).waitFor()
  await main(page).getByRole('searchbox', { name: 'Text' }).fill('by:nobody')
  await main(page).getByText('by must be one of').waitFor()

  // Of the palette: what is no guest names its kind and host, and opens.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('is:storage local')
  const option = page.getByRole('option').filter({ hasText: 'storage' }).filter({ hasText: 'demo' }).first()
  await option.waitFor()
  await visitor.accessible('the palette')
  await visitor.picture('search-palette')
  await option.click()
  await until('the storage is open', () => new URL(page.url()).pathname.startsWith('/storage/'))
  await main(page).getByRole('heading', { level: 1 }).waitFor()
  await visitor.leave()
})

test('a guest as one story', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await vm('running')
  const path = `/api/v1/vms/${guest.id}`
  const { key } = await caller.must<{ key: string }>('POST', '/api/v1/api-keys', { name: 'night watch', scopes: null })
  const byKey = await fetch(`${service.url}${path}/stop`, { method: 'POST', headers: { Authorization: `Bearer ${key}` } })
  await done((await byKey.json()) as { job: Job })
  await done(await caller.must('POST', `${path}/start`))
  await done(await caller.must('POST', `${path}/snapshots`, { name: 'before' }))
  // A refused attempt is in the audit log.
  const refused = await caller.send('DELETE', path, { confirm: hostile })
  expect(refused.status).toBe(409)

  const sent: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/\/api\/v1\/(jobs|audit|alerts)$/.test(pathname)) sent.push(pathname)
  })
  await visitor.open(`/guests/${guest.id}/history`)
  await visitor.logIn()
  const story = page.getByRole('list', { name: 'History' })
  await story.getByText('night watch force-stopped it.').waitFor()
  await story.getByText(/^Running again after/).waitFor()
  await story.getByText('took the snapshot before.').waitFor()
  await story.getByText('attempted: delete').waitFor()
  // An alert of another guest that comes meanwhile is loaded by the bell.
  expect([...new Set(sent.filter((one) => one !== '/api/v1/jobs'))].sort()).toEqual(['/api/v1/alerts', '/api/v1/audit'])
  await visitor.accessible('the story')
  await visitor.picture('history')

  // By kind, in the address; and what happens now stands in it at once.
  await main(page)
    .getByRole('button', { name: /^Snapshots/ })
    .click()
  await story.getByText('night watch').waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('kind')).toBe('snapshot')
  await page.reload()
  await story.getByText('took the snapshot before.').waitFor()
  await main(page).getByRole('button', { name: 'All' }).click()
  await done(await caller.must('POST', `${path}/snapshots`, { name: 'now' }))
  await story.getByText('took the snapshot now.').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await visitor.fits('the story')
  await visitor.picture('history-narrow')
  await visitor.leave()

  // Who may not read the trail has the jobs and alerts, and is told.
  const other = await Visitor.arrive(browser, service.url, { colorScheme: 'dark' })
  await other.open(`/guests/${guest.id}/history`)
  await other.logIn(viewer)
  await other.page.getByRole('list', { name: 'History' }).getByText('took the snapshot now.').waitFor()
  await other.page.getByText('which admins can read').waitFor()
  expect(await other.page.getByText('attempted: delete').count()).toBe(0)
  await other.picture('history-dark')
  await other.leave()
})

test('a recording is played, and deleted', async () => {
  const container = (await guests()).find((one) => one.kind === 'container' && one.status === 'running' && one.app_id === null)!
  const { host_id, guest_ref, name } = container
  await caller.must('POST', '/api/v1/apps/adopt', { items: [{ host_id, guest_ref, name }] })
  await caller.must('PATCH', '/api/v1/settings', { 'console.record_apps': true })
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const frame = page.frameLocator('iframe')
  const printed = async (text: string): Promise<boolean> =>
    (await frame.locator('.xterm-rows').innerText()).replaceAll('\u00a0', ' ').includes(text)

  // What somebody does in a console.
  await visitor.open('/recordings')
  await visitor.logIn()
  await main(page).getByText('No recordings.').waitFor()
  await visitor.accessible('no recordings')
  await visitor.picture('recordings-none')
  await visitor.open(`/guests/${container.id}/console`)
  await page.getByText('Connected', { exact: true }).waitFor()
  await page.keyboard.type(`echo ${hostile}\n`)
  await until('it is shown', () => printed(`\n${hostile}`))
  await page.keyboard.type('echo needle-in-it\n')
  await until('more is shown', () => printed('\nneedle-in-it'))
  await page.keyboard.type('exit\n')
  await page.getByText('Ended', { exact: true }).waitFor()
  await until('the recording has ended', async () =>
    (await caller.must<{ status: string }[]>('GET', '/api/v1/console-recordings')).every((one) => one.status === 'ended'),
  )

  // Listed, narrowed, played.
  await visitor.open('/recordings')
  const row = page.getByRole('row').filter({ hasText: name })
  await row.getByText('anna@example.com').waitFor()
  await visitor.accessible('recordings')
  await visitor.picture('recordings')
  await search(page).fill('by:nobody*')
  await main(page).getByText('No matches').waitFor()
  await search(page).fill('kind:app by:anna*')
  await row.getByRole('link', { name, exact: true }).click()
  await until('it is played', () => printed(`\n${hostile}`))
  await until('to its end', () => printed('\nneedle-in-it'))
  expect(await frame.locator('img').count()).toBe(0)
  await page.getByRole('button', { name: 'Play' }).waitFor()
  await visitor.accessible('a recording')
  await visitor.picture('recording')

  // To its begin and to a text.
  await page.getByRole('slider', { name: 'Time' }).fill('0')
  await until('it is at its begin', async () => !(await printed('needle-in-it')))
  await page.getByLabel('Search in the output').fill('needle-in-it')
  await page.getByRole('button', { name: 'Find next' }).click()
  await until('the text is shown', () => printed('needle-in-it'))
  await page.getByLabel('Search in the output').fill('nobody typed this')
  await page.getByRole('button', { name: 'Find next' }).click()
  await main(page).getByText('No matches').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await visitor.fits('a recording')
  await visitor.picture('recording-narrow')
  await page.setViewportSize({ width: 1280, height: 720 })

  // Taken home, then deleted.
  const [file] = await Promise.all([page.waitForEvent('download'), main(page).getByRole('link', { name: 'Download' }).click()])
  expect(file.suggestedFilename()).toMatch(/\.cast$/)
  await main(page).getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  await visitor.accessible('deletion')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await main(page).getByText('No recordings.').waitFor()
  await visitor.leave()

  const other = await Visitor.arrive(browser, service.url)
  await other.open('/recordings')
  await other.logIn(viewer)
  await other.page.getByText('Requires the role admin').waitFor()
  await other.leave()
})

test('the load that the service causes', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await visitor.open('/')
  await visitor.logIn()
  const load = page.getByRole('region', { name: 'Load caused by Hostler' })
  await load.getByRole('columnheader', { name: 'Response' }).waitFor()
  await load.getByRole('link', { name: 'demo' }).click()
  await page.getByText('it polls an unresponsive host less and less often').waitFor()
  await until('requests are counted', async () => {
    const told = await caller.must<{ by_host: { requests_per_minute: number | null }[] }>('GET', '/api/v1/cluster/summary')
    return (told.by_host[0]?.requests_per_minute ?? 0) > 0
  })
  await page.reload()
  await page
    .getByRole('row', { name: /^Last 5 minutes/ })
    .getByText(/ms$| s$/)
    .first()
    .waitFor()
  await visitor.accessible('the load of a host')
  await visitor.picture('host-load')
  await visitor.leave()
})
