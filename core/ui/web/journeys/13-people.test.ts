// A user, a team, a key; a viewer sees no foreign object and cannot act; and the page lets each do what the document says.
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { operations, type OperationId } from '../src/api/operations'
import { browser, caller, service, stage } from './stage'
import { Caller, owner, Visitor } from './start'

const hostile = `<img src=x onerror="document.title='taken'">`

stage()

/** handedOver reads what is shown once, and says that it is kept. */
async function handedOver(page: Page, title: string, kept: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.waitFor()
  const text = (await dialog.locator('code').first().textContent()) ?? ''
  // Neither Escape nor the button ends it before.
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Done' }).click({ force: true })
  expect(await dialog.isVisible()).toBe(true)
  await dialog.getByLabel(kept).check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
  return text
}

test('user, team, key', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await visitor.open('/guests')
  await visitor.logIn()

  // A user with a first password. What is wrong is told at its field.
  await page.getByRole('grid').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('u')
  await page.getByRole('heading', { name: 'People' }).waitFor()
  await page.getByRole('button', { name: 'Add user' }).click()
  const adding = page.getByRole('dialog', { name: 'Add user' })
  visitor.provokes(409, 422)
  await adding.getByLabel('Email').fill(owner.email)
  await adding.getByRole('button', { name: 'Add user' }).click()
  await adding.getByText('This conflicts with the current state.').waitFor()
  await adding.getByLabel('Email').fill('vera@example.com')
  await adding.getByLabel('Name (optional)').fill(hostile)
  await adding.getByRole('button', { name: 'As a command' }).click()
  const shown = await adding.getByText(/^curl /).textContent()
  expect(shown).toContain('"password":"…"')
  await visitor.accessible('adding a user')
  await visitor.picture('user-new')
  await adding.getByRole('button', { name: 'Add user' }).click()
  const password = await handedOver(page, 'Hand over this password', 'I have handed it over')
  const vera = { email: 'vera@example.com', password }
  const row = page.getByRole('row').filter({ hasText: vera.email })
  await row.getByText('viewer').waitFor()
  await row.getByText(hostile).waitFor()

  // A team, and a role in it.
  await page.getByRole('link', { name: 'Teams' }).click()
  await page.getByRole('button', { name: 'Add team' }).click()
  const team = page.getByRole('dialog', { name: 'Add team' })
  await team.getByLabel('Name').fill(hostile)
  await team.getByRole('button', { name: 'Add team' }).click()
  await team.waitFor({ state: 'detached' })
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: hostile }) })
  await card.getByText('No members.').waitFor()
  await visitor.accessible('teams')
  await visitor.picture('teams')
  await page.getByRole('link', { name: 'Users' }).click()
  await row.getByRole('button', { name: `Actions for ${vera.email}` }).click()
  await page.getByRole('menuitem', { name: 'Edit roles' }).click()
  const roles = page.getByRole('dialog', { name: `Roles of ${vera.email}` })
  await roles.getByLabel(hostile).selectOption('operator')
  await row.getByRole('cell', { includeHidden: true }).first().getByText('operator').waitFor()
  await visitor.accessible('roles')
  await visitor.picture('roles')
  await roles.getByRole('button', { name: 'Done' }).click()

  // Who may do what where.
  await page.getByRole('link', { name: 'Permissions' }).click()
  await row.getByText('operator').waitFor()
  await page.getByLabel('Action', { exact: true }).selectOption('act_on_vm')
  await page.waitForURL(/what=act_on_vm/)
  expect((await row.getByRole('cell').allTextContents()).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
    'not allowed: Requires the role operator here. An owner can grant it.',
    'allowed',
  ])
  await visitor.accessible('who may do what where')
  await visitor.picture('who')

  // A key, shown once, that does what it is let.
  await page.getByRole('button', { name: 'Account of' }).click()
  await page.getByRole('menuitem', { name: 'API keys' }).click()
  await page.getByText('No API keys.').waitFor()
  await page.getByRole('button', { name: 'Create key' }).click()
  const making = page.getByRole('dialog', { name: 'Create key' })
  await making.getByLabel('Name').fill(hostile)
  await making.getByLabel('selected scopes').check()
  await making.getByLabel('vms:write').check()
  await visitor.accessible('making a key')
  await visitor.picture('key-new')
  await making.getByRole('button', { name: 'Create key' }).click()
  const key = await handedOver(page, 'Your new key', 'I have stored it')
  await page.getByRole('heading', { name: hostile }).waitFor()
  expect(await page.content()).not.toContain(key)
  const asked = async (path: string): Promise<number> =>
    (await fetch(service.url + path, { headers: { Authorization: `Bearer ${key}` } })).status
  expect([await asked('/api/v1/vms'), await asked('/api/v1/users')]).toEqual([200, 403])
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No API keys.').waitFor()
  expect(await asked('/api/v1/vms')).toBe(401)

  // A password that is reset, a second factor that is lost, an account that is closed: each at once.
  await visitor.open('/people')
  const acts = row.getByRole('button', { name: `Actions for ${vera.email}` })
  const choose = async (act: string): Promise<void> => {
    await acts.click()
    await page.getByRole('menuitem', { name: act }).click()
    await page.getByRole('dialog').getByRole('button', { name: act, exact: true }).click()
  }
  await choose('Reset password')
  vera.password = await handedOver(page, 'Hand over this password', 'I have handed it over')
  await new Caller(service.url).logIn(vera.email, vera.password)
  await acts.click()
  await page.getByRole('menuitem', { name: 'Reset second factor No second factor.' }).waitFor()
  await page.keyboard.press('Escape')
  await choose('Deactivate')
  await row.getByText('deactivated').waitFor()
  expect((await new Caller(service.url).send('POST', '/api/v1/auth/login', vera)).status).toBe(401)
  await choose('Reactivate')
  await row.getByText('deactivated').waitFor({ state: 'detached' })
  await choose('Delete')
  await row.waitFor({ state: 'detached' })
  await visitor.leave()
})

interface Person {
  who: string
  email: string
  password: string
  role: string | null
  /** The role in the other team. */
  there: string | null
}
const people: Person[] = [
  { who: 'viewer', role: 'viewer', there: null },
  { who: 'operator', role: 'operator', there: null },
  { who: 'admin', role: 'admin', there: null },
  { who: 'owner', role: 'owner', there: null },
  { who: 'admin of another team', role: null, there: 'admin' },
  { who: 'viewer who is an operator of another team', role: 'viewer', there: 'operator' },
].map((one, i) => ({ ...one, email: `p${i}@example.com`, password: `eleven-green-otters-${i}` }))

const ranks = ['viewer', 'operator', 'admin', 'owner']

/** allowed is what the document says of a person and an operation on what belongs to the default team, or to the instance. */
function allowed(person: Person, id: OperationId): boolean {
  const [role = '', on = ''] = operations[id].split(' ')
  const held = [person.role, ...(on === 'anywhere' ? [person.there] : [])].map((one) => ranks.indexOf(one ?? ''))
  return Math.max(...held) >= ranks.indexOf(role)
}

/** Controls of the page, each with the operation that it asks for. */
const controls: { path: string; name: string; id: OperationId; menu?: string }[] = [
  { path: '/schedules', name: 'Add schedule', id: 'create_schedule' },
  { path: '/schedules', name: 'Run now', id: 'run_schedule' },
  { path: '/schedules', name: 'Pause', id: 'update_schedule', menu: 'Actions for Prune old jobs' },
  { path: '/schedules', name: 'Delete schedule', id: 'delete_schedule', menu: 'Actions for Prune old jobs' },
  { path: '/people', name: 'Add user', id: 'create_user' },
  { path: '/people', name: 'Edit roles', id: 'set_team_member', menu: 'Actions for p0@example.com' },
  { path: '/people', name: 'Reset password', id: 'reset_password', menu: 'Actions for p0@example.com' },
  { path: '/people?show=teams', name: 'Add team', id: 'create_team' },
  { path: '/audit', name: 'Verify', id: 'verify_audit' },
  { path: '/audit', name: 'Clear', id: 'clear_audit' },
  { path: '/keys', name: 'Create key', id: 'create_api_key' },
]
const pages: Record<string, OperationId> = {
  '/schedules': 'list_schedules',
  '/audit': 'list_audit',
  '/people': 'list_users',
  '/settings': 'list_settings',
}
const reads: Partial<Record<OperationId, string>> = {
  list_schedules: '/api/v1/schedules',
  list_audit: '/api/v1/audit',
  list_users: '/api/v1/users',
  list_settings: '/api/v1/settings',
  verify_audit: '/api/v1/audit/verification',
}

test('each sees and may what the document says', async () => {
  const team = await caller.must<{ id: number }>('POST', '/api/v1/teams', { name: 'blue' })
  for (const { email, password, role, there } of people) {
    const user = await caller.must<{ id: number }>('POST', '/api/v1/users', { email, password, role })
    if (there) await caller.must('PUT', `/api/v1/teams/${team.id}/members/${user.id}`, { role: there })
  }
  const [guest] = await caller.must<{ id: number; name: string; kind: string }[]>('GET', '/api/v1/guests')
  // Two at once, each in a browser of their own.
  const visit = async (person: Person): Promise<void> => {
    const { who } = person
    const own = await new Caller(service.url).logIn(person.email, person.password)
    const visitor = await Visitor.arrive(browser, service.url)
    const { page } = visitor
    visitor.provokes(404)
    await visitor.open('/account')
    await visitor.logIn(person)
    const menu = page.getByRole('navigation', { name: 'Menu' })
    for (const [path, id] of Object.entries(pages)) {
      // The menu, the page at its address, and the service agree.
      const expected = allowed(person, id)
      expect(await menu.locator(`a[href="${path}"]`).count(), `${who}: ${path} in the menu`).toBe(expected ? 1 : 0)
      expect((await own.send('GET', reads[id]!)).status, `${who}: ${id}`).toBe(expected ? 200 : 403)
      await visitor.open(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (!expected) await page.getByText('Requires the role').first().waitFor()
    }
    for (const { path, name, id, menu } of controls) {
      const shown = pages[path.replace(/\?.*/, '')]
      if (shown && !allowed(person, shown)) continue
      await visitor.open(path)
      if (menu) await page.getByRole('button', { name: menu, exact: true }).click()
      const control = menu ? page.getByRole('menuitem', { name }) : page.getByRole('button', { name, exact: true }).first()
      await control.waitFor()
      const usable = (await control.getAttribute('aria-disabled')) !== 'true'
      // Nobody resets the password of somebody above: there is nobody above p0 but for those without a role.
      const expected = operations[id].startsWith('none') || allowed(person, id)
      expect(usable, `${who}: ${name}`).toBe(expected)
      if (reads[id]) expect((await own.send('GET', reads[id]!)).status, `${who}: ${id}`).toBe(expected ? 200 : 403)
    }
    // What belongs to a team that one is not in is not there.
    const seen = person.role !== null
    await visitor.open('/guests')
    if (seen) await page.getByText(guest!.name).first().waitFor()
    else await page.getByText('No guests yet.').waitFor()
    expect((await own.send('GET', `/api/v1/vms/${guest!.id}`)).status === 404).toBe(!seen || guest!.kind !== 'vm')
    await visitor.open(`/guests/${guest!.id}`)
    await page
      .getByRole('heading', { name: seen ? guest!.name : 'Page not found' })
      .or(page.getByText("Not found, or you don't have access."))
      .first()
      .waitFor()
    await visitor.leave()
  }
  for (let i = 0; i < people.length; i += 2) await Promise.all(people.slice(i, i + 2).map(visit))
})
