// Every path opens for the owner without findings, and none is wider than 320 px, in the language with the longest words. In the dark, at
// 360 px and for a viewer so do those that stand for their neighbours, or all of them before a release.
import type { Request } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import words from '../src/words/en.json'
import { browser, caller, service, stage } from './stage'
import { Caller, owner, until, Visitor } from './start'

const viewer = { email: 'vera@example.com', password: 'nine-purple-giraffes' }
/** A name full of markup; and one with a character that turns the direction of writing, which the service lets nobody write. */
const markup = `<img src=x onerror="document.title='taken'">&lt;b>`
const hostile = `${markup}${String.fromCharCode(0x202e)}`
/** Ten kilobytes of it. */
const long = hostile.repeat(200)

let paths: string[]
/** Says whether a path stands for its neighbours, where what is looked at was looked at in another way already: one in three, or all with
 * HOSTLER_EVERYTHING, before a release. */
const stands = (path: string): boolean => Boolean(process.env['HOSTLER_EVERYTHING']) || paths.indexOf(path) % 3 === 0

stage()
beforeAll(async () => {
  await caller.must('POST', '/api/v1/users', { ...viewer, role: 'viewer' })
  const all = await caller.must<{ id: number; kind: string; status: string }[]>('GET', '/api/v1/guests')
  const vm = all.find((one) => one.kind === 'vm' && one.status === 'stopped')!
  const container = all.find((one) => one.kind === 'container')!
  const { job } = await caller.must<{ job: { id: number } }>('POST', `/api/v1/vms/${vm.id}/start`)
  const things = [`/guests/${vm.id}`, `/guests/${container.id}`, '/guests/999999', `/jobs/${job.id}`, '/jobs/999999']
  // What people write is shown to others.
  const team = await caller.must<{ id: number }>('POST', '/api/v1/teams', { name: markup, description: markup })
  const other = { email: 'tom@example.com', password: 'ten-orange-lizards-fly', display_name: markup, role: null }
  const user = await caller.must<{ id: number }>('POST', '/api/v1/users', other)
  await caller.must('PUT', `/api/v1/teams/${team.id}/members/${user.id}`, { role: 'operator' })
  await caller.must('POST', '/api/v1/api-keys', { name: markup, scopes: ['read', 'vms:write'] })
  const params = { name: 'nightly', description: markup, vm_id: vm.id }
  const nightly = { name: markup, cron: '30 2 1 * MON', timezone: 'Asia/Kathmandu', job_kind: 'vm.snapshot_create', params }
  await caller.must('POST', '/api/v1/schedules', nightly)
  await caller.must('PATCH', '/api/v1/settings', { 'jobs.keep_days': 60 })
  const views = ['/people', '/people?show=teams', '/people?show=who', '/people?show=who&what=act_on_vm']
  const recordings = ['/recordings', '/recordings/999999', '/recordings?q=kind:vm']
  const settings = ['/settings', '/settings/remote-write', '/settings/providers', '/update']
  const slice = [...recordings, '/schedules', '/audit', '/audit?result=failed', ...views, ...settings, '/keys']
  const host = (await caller.must<{ id: number }[]>('GET', '/api/v1/hosts'))[0]!.id
  const parts = ['usage', 'capabilities', 'tasks', 'activity', 'members', 'load', 'ssh', 'settings'].map(
    (part) => `/hosts/${host}?part=${part}`,
  )
  const nodes = [`/hosts/${host}/nodes/pve1`, `/hosts/${host}/nodes/nowhere`]
  const hosts = ['/hosts', '/hosts/enrol', `/hosts/${host}`, ...parts, ...nodes, '/hosts/999999']
  const ofGuest = ['console', 'snapshots', 'network', 'options'].map((part) => `/guests/${container.id}/${part}`)
  // A firewall with everything that people write in it.
  const wall = `/api/v1/vms/${vm.id}/firewall`
  await caller.must('POST', `${wall}/aliases`, { name: 'office', cidr: '192.0.2.0/24', comment: markup })
  await caller.must('POST', `${wall}/ipsets`, { name: 'doors', comment: markup })
  await caller.must('POST', `${wall}/rules`, { type: 'in', action: 'ACCEPT', source: 'office', comment: markup })
  await caller.must('POST', `/api/v1/firewall/cluster/${host}/groups`, { group: 'web', comment: markup })
  const draft = await caller.must<{ id: number }>('POST', '/api/v1/firewall/drafts', {
    host_id: host,
    name: markup,
    changes: [{ scope: { kind: 'vm', id: vm.id }, action: 'change_rule', pos: 0, rule: { comment: markup.repeat(9) } }],
  })
  const at = `/firewall?scope=guest:${vm.id}`
  const walls = [
    '/firewall',
    ...['', 'objects', 'options', 'log', 'test', 'reach', 'drafts'].map((show) => `${at}&show=${show}`),
    `${at}&show=drafts&draft=${draft.id}`,
    `${at}&draft=${draft.id}`,
    `/firewall?scope=node:${host}:pve1&show=options`,
    `/firewall?scope=node:${host}:pve1&show=objects`,
    `/firewall?scope=group:${host}:web`,
    '/firewall?scope=guest:999999',
    `/guests/${vm.id}/firewall`,
    `/hosts/${host}/nodes/pve1?part=firewall`,
  ]
  const told = [`/guests/${vm.id}/history`, `/guests/${container.id}/history`, '/guests?q=cpu:>x', '/jobs?q=is:x']
  const changes = ['backup', 'clone', 'resize', 'migrate', 'delete'].map((change) => `/guests/${vm.id}?do=${change}`)
  const made = [
    '/guests/new',
    '/backups',
    '/backups?stale=1',
    '/backups?show=all',
    '/backups?show=all&gone=1',
    `/guests/${container.id}/backups`,
    `/guests/${vm.id}/backups`,
  ]
  const guests = [
    ...ofGuest,
    ...told,
    ...made,
    ...changes,
    `/guests/${vm.id}/network`,
    `/guests/${vm.id}/options`,
    '/guests?group=node',
  ]
  const catalog = ['/catalog', '/catalog?view=list', '/catalog?show=sources', '/catalog/no-such', '/catalog/no-such/install']
  const apps = ['/apps', '/apps/adopt']
  const ofStorage = [`/storage/${host}/local`, `/storage/${host}/local?part=nodes`, `/storage/${host}/local?part=definition`]
  const storage = ['/storage', ...ofStorage, `/storage/${host}/local-lvm?kind=disk`, `/storage/999999/local`]
  const network = ['/network', `/network/${host}/pve1`, `/network/${host}/nowhere`]
  // An alert that somebody has written about, and all that people write of alerts.
  await caller.must('PATCH', '/api/v1/settings', { 'poll.interval_s': 5 })
  const scope = { targets: [`vm:${vm.id}`] }
  const rule = { name: markup, description: markup, kind: 'cpu', on: scope, threshold: 0.001, for_s: 0, labels: { room: markup } }
  await caller.must('POST', '/api/v1/alert-rules', rule)
  const again = { name: markup, cron: '0 1 * * *', duration_s: 3600, timezone: 'Asia/Kathmandu', on: { tags: [markup] } }
  await caller.must('POST', '/api/v1/maintenance-windows', again)
  const channel = { name: markup, kind: 'webhook', settings: { url: 'http://127.0.0.1:9/hook' }, secrets: { secret: 'a' } }
  const routes = [{ severity: 'warning', tags: [markup], rules: [markup] }]
  const hook = await caller.must<{ id: number }>('POST', '/api/v1/notification-channels', { ...channel, routes })
  await caller.must('POST', `/api/v1/notification-channels/${hook.id}/test`)
  const fired = await until('an alert is raised', async () =>
    (await caller.must<{ id: number; rule: string }[]>('GET', '/api/v1/alerts')).find((one) => one.rule === markup),
  )
  await caller.must('POST', `/api/v1/alerts/${fired.id}/ack`, { note: markup })
  const lists = ['acknowledged', 'silenced', 'resolved'].map((state) => `/alerts?state=${state}`)
  const ofAlerts = ['rules', 'windows', 'channels', 'deliveries'].map((part) => `/alerts/${part}`)
  const alerts = ['/alerts', ...lists, ...ofAlerts, `/alerts/${fired.id}`, '/alerts/999999', '/alerts/no-number']
  const own = [...catalog, ...apps, ...storage, ...network, ...alerts, '/plugins', '/account', '/about', '/no-such-page']
  paths = ['/', '/guests', '/jobs', ...things, ...guests, ...hosts, ...walls, ...slice, ...own]
})

for (const [who, person] of Object.entries({ owner, viewer })) {
  test(
    who,
    async () => {
      // What was chosen in another browser, such as a zone, is not of this walk.
      const own = await new Caller(service.url).logIn(person.email, person.password)
      await own.must('PUT', '/api/v1/auth/preferences', { value: {} })
      const visitor = await Visitor.arrive(browser, service.url, { colorScheme: 'light' })
      const { page } = visitor
      visitor.provokes(404, 501, 502)
      // Names and texts of others are text, whatever is in them.
      await page.route(/\/api\/v1\/(guests|hosts|jobs|cluster\/nodes)(\?|$)/, async (route) => {
        const response = await route.fetch()
        if (!response.ok()) return route.fulfill({ response })
        const list = (await response.json()) as {
          name?: string
          tags?: string[]
          target?: { name: string }
          last_line?: string
        }[]
        for (const one of list) {
          if (one.target) Object.assign(one, { target: { ...one.target, name: hostile }, last_line: hostile })
          else if ('tags' in one) Object.assign(one, { name: hostile, tags: [hostile], node: hostile })
          else if ('is_entry' in one) Object.assign(one, { cluster: hostile })
          else Object.assign(one, { name: hostile, error: hostile, cluster: { id: 1, name: hostile } })
        }
        await route.fulfill({ response, json: list })
      })
      await page.route(/\/api\/v1\/(users|teams|api-keys|schedules|audit|settings)(\?|$)/, async (route) => {
        const response = await route.fetch()
        if (!response.ok() || route.request().method() !== 'GET') return route.fulfill({ response })
        const list = (await response.json()) as Record<string, unknown>[]
        // Of each list one entry, and of the audit log's details all.
        const entry = list.at(-1)
        const texts = [
          'name',
          'display_name',
          'description',
          'last_error',
          'disabled_reason',
          'actor_email',
          'doc',
          'changed_by',
          'slug',
        ]
        for (const name of texts)
          if (entry && name in entry) entry[name] = name === 'description' || name === 'doc' ? long : hostile
        for (const one of list) {
          if ('details' in one) Object.assign(one, { details: { [hostile]: long, key_name: hostile }, address: hostile })
        }
        await route.fulfill({ response, json: list })
      })
      await page.route(
        /\/api\/v1\/(alerts|alert-rules|maintenance-windows|notification-channels|notification-deliveries)(\?|$)/,
        async (route) => {
          const response = await route.fetch()
          if (!response.ok() || route.request().method() !== 'GET') return route.fulfill({ response })
          const list = (await response.json()) as Record<string, unknown>[]
          for (const name of ['name', 'description', 'message', 'rule', 'ack_note', 'channel', 'title', 'error'])
            for (const one of list) if (name in one && one[name] !== null) one[name] = name === 'message' ? long : hostile
          for (const one of list) if ('target' in one) one.target = { ...(one.target as object), name: hostile }
          await route.fulfill({ response, json: list })
        },
      )
      await page.route(/\/api\/v1\/alerts\/\d+$/, async (route) => {
        const response = await route.fetch()
        if (!response.ok() || route.request().method() !== 'GET') return route.fulfill({ response })
        const one = (await response.json()) as { target: object; history: object[] }
        const texts = { message: long, remedy: long, rule: hostile, ack_note: long, labels: { [hostile]: long } }
        const history = one.history.map((event) => ({ ...event, text: hostile }))
        await route.fulfill({ response, json: { ...one, ...texts, history, target: { ...one.target, name: hostile } } })
      })
      await page.route(/\/firewall\/(rules|aliases|ipsets|drafts)(\?|$)/, async (route) => {
        const response = await route.fetch()
        if (!response.ok() || route.request().method() !== 'GET') return route.fulfill({ response })
        const list = (await response.json()) as Record<string, unknown>[]
        for (const one of list) Object.assign(one, 'created_by' in one ? { name: hostile, created_by: long } : { comment: long })
        await route.fulfill({ response, json: list })
      })
      await visitor.open('/')
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      await visitor.accessible('log-in')
      await visitor.picture(`login-${who}`)
      await visitor.logIn(person)
      // A viewer sees the pages of the owner, with less in them.
      for (const path of who === 'owner' ? paths : paths.filter(stands)) {
        await visitor.open(path)
        await page.getByRole('main').locator('h1, strong').first().waitFor()
        expect(await page.locator('img').count(), path).toBe(0)
        // Each text has come with the page that says it.
        const lines = (await page.locator('body').innerText()).split('\n').map((line) => line.trim())
        expect(
          lines.filter((line) => line.includes('.') && line in words),
          path,
        ).toEqual([])
        const name = path.slice(1).replaceAll(/[/?=&]/g, '-') || 'first'
        // In the dark only colours are others, and what is narrow is so for everybody.
        const looks = [
          ['light', 1280],
          ...(who === 'owner' && stands(path) ? ([['light', 360]] as const) : []),
          ...(stands(path) ? ([['dark', 1280]] as const) : []),
        ] as const
        for (const [colorScheme, width] of looks) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 720 })
          await visitor.accessible(`${path}, ${colorScheme}, at ${width}`, colorScheme === 'dark')
          await visitor.fits(`${path} at ${width}`)
          await visitor.picture(`${name}-${who}-${colorScheme}-${width}`)
        }
        await page.emulateMedia({ colorScheme: 'light' })
      }
      // Who may not do it is told why, on the control itself.
      await visitor.open(paths.find((path) => /^\/guests\/\d+$/.test(path))!)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const power = page.getByRole('button', { name: 'Shut down', exact: true })
      await power.waitFor()
      expect(await power.getAttribute('aria-disabled')).toBe(who === 'viewer' ? 'true' : null)
      if (who === 'viewer') await page.getByText('Requires the role operator here.').waitFor()
      // The palette and the list of keys, by keys alone.
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('about')
      await visitor.accessible('palette')
      await visitor.picture(`palette-${who}`)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'About' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/about')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
      await visitor.accessible('keys')
      await visitor.picture(`keys-${who}`)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      // The zone is switched for a look at UTC.
      await page.getByText('Europe/Berlin').waitFor()
      await page.keyboard.press('Shift+Z')
      await page.getByRole('button', { name: 'Times in UTC' }).waitFor()
      await visitor.leave()
    },
    1_800_000,
  )
}

// Words of German are longer.
test('narrow, in German', async () => {
  await caller.must('PUT', '/api/v1/auth/preferences', { value: {} })
  const visitor = await Visitor.arrive(browser, service.url, { locale: 'de-DE', viewport: { width: 320, height: 720 } })
  const { page } = visitor
  visitor.provokes(404, 501, 502)
  let asked = 0
  const counts = (request: Request): boolean => request.url().includes('/api/v1/') && !request.url().includes('/stream')
  page.on('request', (request) => (asked += Number(counts(request))))
  for (const over of ['requestfinished', 'requestfailed'] as const)
    page.on(over as 'requestfinished', (request) => (asked -= Number(counts(request))))
  await visitor.open('/')
  await page.locator('input[name=password]').waitFor()
  await visitor.fits('log-in at 320')
  await visitor.logIn()
  const wrong: string[] = []
  for (const path of paths) {
    await (stands(path) ? visitor.open(path) : visitor.step(path))
    await page.getByRole('main').locator('h1, strong').first().waitFor()
    await until(`${path} is loaded`, () => asked === 0)
    const name = path.slice(1).replaceAll(/[/?=&]/g, '-') || 'first'
    for (const width of [320, 360]) {
      await page.setViewportSize({ width, height: 720 })
      for (const holds of [visitor.fits, visitor.reached])
        await holds.call(visitor, `${path} at ${width}`).catch((caught: unknown) => wrong.push(String(caught)))
      await visitor.picture(`narrow-${name}-${width}`)
    }
  }
  expect(wrong).toEqual([])
  await visitor.leave()
}, 1_800_000)
