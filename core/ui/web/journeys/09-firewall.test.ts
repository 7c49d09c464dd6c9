// The firewall: a rule by keyboard, what becomes of a packet, two editors of one list, and a draft that takes itself back.
import { beforeAll, expect, test } from 'vitest'
import { browser, caller, cluster, service, stage } from './stage'
import { until, Visitor } from './start'

/** Texts of others are text, whatever is in them. */
const hostile = `<img src=x onerror="document.title='taken'">${'long '.repeat(150)}`

interface Rule {
  pos: number
  enable: number
  action: string
  dport: string | null
  source: string | null
  comment: string | null
  digest: string
}

stage()
let vm: { id: number; name: string; vmid: number; node: string; host_id: number }
let wall: string
const rules = (): Promise<Rule[]> => caller.must<Rule[]>('GET', `${wall}/rules`)
const ports = async (): Promise<string> => (await rules()).map((rule) => rule.dport).join(' ')

beforeAll(async () => {
  const all = await caller.must<(typeof vm & { kind: string; status: string; template: boolean })[]>('GET', '/api/v1/guests')
  vm = all.find((one) => one.kind === 'vm' && one.status === 'running' && !one.template)!
  wall = `/api/v1/vms/${vm.id}/firewall`
  await caller.must('PUT', `/api/v1/firewall/cluster/${vm.host_id}/options`, { enable: 1 })
  await caller.must('PUT', `${wall}/options`, { enable: 1, policy_in: 'DROP' })
  await caller.must('PUT', `/api/v1/vms/${vm.id}/network/net0`, { firewall: true })
  // The demo has some already.
  for (const { pos } of (await rules()).toReversed()) await caller.must('DELETE', `${wall}/rules/${pos}`)
  await caller.must('POST', `${wall}/aliases`, { name: 'office', cidr: '192.0.2.0/24', comment: hostile })
  await caller.must('POST', `${wall}/aliases`, { name: 'spare', cidr: '198.51.100.7' })
})

test('rules by keyboard, and what becomes of a packet', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('/api/v1/') && asked.push(new URL(request.url()).pathname))
  await visitor.open(`/firewall?scope=guest:${vm.id}`)
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByText('No rules.').waitFor()
  await visitor.accessible('no rules')
  await visitor.picture('firewall-no-rules')

  // Nothing but keys: two rules, the second is moved before the first.
  for (const [port, source] of [
    ['443', ''],
    ['22', 'off'],
  ] as const) {
    await main.getByRole('button', { name: 'Add rule', exact: true }).focus()
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Add rule' })
    await form.getByRole('combobox', { name: 'Protocol' }).focus()
    await page.keyboard.type('tcp')
    if (source) {
      await form.getByRole('combobox', { name: 'Source' }).focus()
      await page.keyboard.type(source)
      await form.getByRole('option').filter({ hasText: 'office' }).waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await visitor.accessible('a new rule')
      await visitor.picture('firewall-rule-form')
    }
    await form.getByLabel('Destination port', { exact: true }).focus()
    await page.keyboard.type(port)
    await form.getByRole('button', { name: 'As a command' }).focus()
    await page.keyboard.press('Enter')
    await form.getByText(/^curl .*\/firewall\/rules/).waitFor()
    await form.getByLabel('Destination port', { exact: true }).focus()
    await page.keyboard.press('Enter')
    await form.waitFor({ state: 'detached' })
    await main.getByRole('button', { name: new RegExp(`^Rule \\d: in ACCEPT tcp .*dport ${port}`) }).waitFor()
  }
  expect(await ports()).toBe('443 22')
  expect((await rules())[1]!.source).toMatch(/office/)
  await main.getByRole('button', { name: /^Rule 2:/ }).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await main.getByText('Moved to position 1 of 2.').waitFor({ state: 'attached' })
  expect(await ports()).toBe('22 443')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/^Rule 1:.*22/)
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/^Rule 2:.*443/)
  await visitor.accessible('rules')
  await visitor.picture('firewall-rules')

  // By mouse it goes back.
  await main.getByRole('row').nth(2).dragTo(main.getByRole('row').nth(1))
  await until('the rule is moved', async () => (await ports()) === '443 22')
  await main.getByRole('button', { name: /^Rule 1:.*443/ }).waitFor()

  // Switched off; it shows what holds.
  const second = main.getByRole('checkbox', { name: 'Enable rule 2' })
  await second.focus()
  await page.keyboard.press('Space')
  await expect.poll(() => second.isChecked()).toBe(false)
  expect((await rules())[1]!.enable).toBe(0)
  await second.press('Space')
  await expect.poll(() => second.isChecked()).toBe(true)

  // The names that rules may have: one is used, one is not, and its comment is text.
  await main.getByRole('link', { name: 'Aliases and IP sets' }).click()
  await main.getByText('unused: no rule here uses it').waitFor()
  expect(await main.getByText('unused: no rule here uses it').count()).toBe(1)
  await visitor.accessible('aliases and sets')
  await visitor.picture('firewall-objects')
  visitor.provokes(409)
  await main.getByRole('button', { name: 'Actions for office' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const away = page.getByRole('dialog', { name: 'Delete office' })
  await away.getByRole('button', { name: 'Delete office' }).click()
  await away.getByText('Used by:').waitFor()
  await away.getByLabel('Type office').waitFor()
  await visitor.accessible('an alias in use')
  await visitor.picture('firewall-in-use')
  await page.keyboard.press('Escape')
  await main.getByRole('button', { name: 'Add IP set' }).click()
  const add = page.getByRole('dialog', { name: 'Add IP set' })
  await add.getByLabel('Name').fill('doors')
  await add.getByRole('button', { name: 'Save' }).click()
  await main.getByText('doors', { exact: true }).waitFor()
  await main.getByText('Members', { exact: true }).click()
  await main.getByLabel('Address or network').fill('192.0.2.64/26')
  await main.getByRole('button', { name: 'Add member' }).click()
  await main.getByText('1 member', { exact: true }).waitFor()

  // A packet: from outside to the port, allowed by rule 1; to another, dropped by the policy.
  await main.getByRole('link', { name: 'Packet test' }).click()
  await main.getByRole('button', { name: 'Test packet' }).click()
  const result = main.getByRole('region', { name: 'Result' })
  await result.getByText('allowed').first().waitFor()
  await result
    .getByRole('link', { name: /^rule 1, guest/ })
    .first()
    .waitFor()
  await main.getByLabel('Destination port', { exact: true }).fill('8080')
  await main.getByRole('button', { name: 'Test packet' }).click()
  await result.getByText('dropped').first().waitFor()
  await result.getByText('different destination port').first().waitFor()
  await visitor.accessible('a packet that is dropped')
  await visitor.picture('firewall-packet')
  // The link of it shows the same test, and the rule is a link to it.
  await page.reload()
  await result.getByText('dropped').first().waitFor()
  await result
    .getByRole('link', { name: /^rule 1, guest/ })
    .first()
    .click()
  await main.locator('tr.marked').waitFor()

  await main.getByRole('link', { name: 'Reachability' }).click()
  const reach = main.getByRole('table', { name: 'Reachability' })
  await reach.getByRole('row').filter({ hasText: 'outside address' }).getByText('tcp 443').waitFor()
  await visitor.accessible('reach')
  await visitor.picture('firewall-reach')

  // Both of its other places are the same workbench.
  asked.length = 0
  await visitor.open(`/guests/${vm.id}/firewall`)
  await main.getByRole('button', { name: /^Rule 1:/ }).waitFor()
  expect(asked.filter((path) => path.includes('/firewall'))).toEqual([`${wall}/rules`])
  await visitor.picture('firewall-guest')
  await visitor.open(`/hosts/${vm.host_id}/nodes/${vm.node}?part=firewall&show=log`)
  await main.getByLabel('Since').selectOption('the beginning')
  await cluster.control('/firewall/log', { node: vm.node, lines: [`${vm.vmid} nobody understands ${hostile}`] })
  await main.getByRole('log').getByText('nobody understands').waitFor()
  await visitor.accessible('the log')
  await visitor.picture('firewall-node-log')
  await visitor.leave()
})

test('two editors of one list', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(409)
  await visitor.open(`/firewall?scope=guest:${vm.id}`)
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByRole('button', { name: /^Rule 1:.*443/ }).press('Enter')
  const form = page.getByRole('dialog', { name: 'Edit rule 1' })
  await form.getByLabel('Destination port', { exact: true }).fill('8443')

  // Meanwhile somebody else puts a rule first, and changes the same one.
  await caller.must('PUT', `${wall}/rules/0`, { comment: hostile })
  await caller.must('POST', `${wall}/rules`, { type: 'in', action: 'DROP', proto: 'tcp', dport: '23', enable: 1, pos: 0 })
  await form.getByRole('button', { name: 'Save rule' }).click()
  const conflict = page.getByRole('dialog', { name: 'Someone else changed this in the meantime' })
  const row = conflict.getByRole('row').filter({ hasText: '8443' })
  await row.waitFor()
  expect(await conflict.getByRole('row').count()).toBe(3)
  await visitor.accessible('a conflict')
  await visitor.picture('firewall-conflict')
  const save = conflict.getByRole('button', { name: 'Save selection' })
  // What both have changed is not decided by itself.
  expect(await save.getAttribute('aria-disabled')).toBe('true')
  await row.getByRole('radio', { name: /^Yours/ }).check()
  await save.click()
  await conflict.waitFor({ state: 'detached' })
  await main.getByRole('button', { name: /^Rule 2:.*8443/ }).waitFor()
  expect(await ports()).toBe('23 8443 22')

  // Options of which each has changed another: mine is taken, and theirs stays.
  await main.getByRole('link', { name: 'Options' }).click()
  await main.getByLabel('MAC filter').selectOption('off')
  await caller.must('PUT', `${wall}/options`, { dhcp: 1 })
  await main.getByRole('button', { name: 'Save options' }).click()
  await conflict.getByRole('row').filter({ hasText: 'MAC filter' }).waitFor()
  await visitor.picture('firewall-conflict-options')
  await conflict.getByRole('button', { name: 'Save selection' }).click()
  await conflict.waitFor({ state: 'detached' })
  expect(await caller.must('GET', `${wall}/options`)).toMatchObject({ macfilter: 0, dhcp: 1, enable: 1 })
  await visitor.accessible('options')
  await visitor.picture('firewall-options')
  await visitor.leave()
})

test('a draft is kept in time, or takes itself back', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await visitor.open(`/firewall?scope=guest:${vm.id}`)
  await visitor.logIn()
  const main = page.getByRole('main')
  const before = await ports()
  await main.getByRole('button', { name: 'Start a draft' }).click()
  await main.getByLabel('Draft name').fill('let it in')
  await main.getByRole('button', { name: 'Add rule', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'Add rule' })
  await form.getByRole('combobox', { name: 'Protocol' }).fill('tcp')
  await form.getByLabel('Destination port', { exact: true }).fill('2222')
  await form.getByRole('button', { name: 'Save rule' }).click()
  await form.waitFor({ state: 'detached' })
  await main.getByText('changed by the draft').waitFor()
  await main.getByRole('button', { name: /^Rule 4:.*2222/ }).press('Alt+ArrowUp')
  await main.getByText('2 changes').waitFor()
  expect(await ports()).toBe(before)
  await visitor.accessible('rules of a draft')
  await visitor.picture('firewall-draft-rules')

  await main.getByRole('link', { name: 'let it in' }).click()
  await main.getByText('Move rule 4 to 3').waitFor()
  await main.getByRole('button', { name: 'Add packet' }).click()
  await main.getByLabel('Destination port', { exact: true }).fill('2222')
  await main.getByRole('button', { name: 'Add packet' }).click()
  await main.getByText('as expected').waitFor()
  await visitor.accessible('a draft')
  await visitor.picture('firewall-draft')

  // Applied for a while: the plan first.
  const apply = async (): Promise<void> => {
    await main.getByLabel('Roll back after').selectOption('10 s')
    await main.getByRole('button', { name: 'Review plan and apply' }).click()
    const dialog = page.getByRole('dialog', { name: 'Apply let it in' })
    await dialog.getByRole('listitem').first().waitFor()
    const phrase = dialog.getByLabel('Type let it in')
    if (await phrase.count()) await phrase.fill('let it in')
    await visitor.picture('firewall-apply')
    await dialog.getByRole('button', { name: 'Apply for 10 s' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await apply()
  const timer = main.getByRole('timer')
  await timer.waitFor()
  expect(await ports()).toBe(`${before.split(' ').slice(0, 2).join(' ')} 2222 ${before.split(' ')[2]}`)
  await visitor.picture('firewall-waiting')
  // Nobody keeps it: it goes back before one's eyes.
  await main.getByText('Everything is as it was before.').waitFor()
  expect(await ports()).toBe(before)
  await visitor.accessible('a draft that went back')
  await visitor.picture('firewall-undone')

  // Once more, with the longer window, and kept.
  await main.getByLabel('Roll back after').selectOption('1 min')
  await main.getByRole('button', { name: 'Review plan and apply' }).click()
  const dialog = page.getByRole('dialog', { name: 'Apply let it in' })
  await dialog.getByRole('listitem').first().waitFor()
  const phrase = dialog.getByLabel('Type let it in')
  if (await phrase.count()) await phrase.fill('let it in')
  await dialog.getByRole('button', { name: 'Apply for 1 min' }).click()
  await main.getByRole('button', { name: 'Confirm changes' }).click()
  await main.getByText('The changes are confirmed.').waitFor()
  expect(await ports()).toContain('2222')
  await main.getByText('Confirmed by anna@example.com', { exact: true }).waitFor()
  await visitor.picture('firewall-kept')

  // One that cuts the service off says so, and wants its name.
  const shut = await caller.must<{ id: number }>('POST', '/api/v1/firewall/drafts', {
    host_id: vm.host_id,
    name: 'shut the door',
    changes: [{ scope: { kind: 'cluster' }, action: 'create_rule', pos: 0, rule: { type: 'in', action: 'DROP', enable: 1 } }],
  })
  await visitor.open(`/firewall?scope=cluster:${vm.host_id}&show=drafts&draft=${shut.id}`)
  await main.getByRole('button', { name: 'Review plan and apply' }).click()
  const door = page.getByRole('dialog', { name: 'Apply shut the door' })
  await door.getByText(/This may cut off Hostler, you, or the nodes from each other/).waitFor()
  await door.getByLabel('Type shut the door').fill('shut')
  expect(await door.getByRole('button', { name: 'Apply for 1 min' }).getAttribute('aria-disabled')).toBe('true')
  await visitor.accessible('a draft that cuts the service off')
  await visitor.picture('firewall-self')
  await page.keyboard.press('Escape')
  await main.getByRole('button', { name: 'Delete draft' }).click()
  await page.getByRole('dialog', { name: 'Delete draft' }).getByRole('button', { name: 'Delete draft' }).click()
  await main.getByRole('table', { name: 'Drafts' }).getByText('let it in').waitFor()
  await visitor.picture('firewall-drafts')
  await visitor.leave()
})

test('a template is edited', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(409)
  const content = {
    rules: [
      { type: 'in', action: 'ACCEPT', enable: 1, dport: '443', comment: hostile.slice(0, 400) },
      { type: 'in', action: 'DROP', enable: 1 },
    ],
    aliases: [{ name: 'office', cidr: '192.0.2.0/24' }],
    options: { policy_in: 'DROP' },
  }
  const path = '/api/v1/firewall/templates'
  const made = await caller.must<{ id: number }>('POST', path, {
    name: 'web server',
    description: hostile.slice(0, 900),
    content,
  })
  const template = (): Promise<{ name: string; content: typeof content }> => caller.must('GET', `${path}/${made.id}`)
  await visitor.open(`/firewall?scope=guest:${vm.id}&show=drafts`)
  await visitor.logIn()
  const main = page.getByRole('main')
  const open = async (): Promise<void> => {
    await main.getByRole('button', { name: 'Actions for web server' }).click()
    await page.getByRole('menuitem', { name: 'Edit template' }).click()
  }
  await open()
  const form = page.getByRole('dialog', { name: /^Edit web/ })
  const save = form.getByRole('button', { name: 'Save template' })
  expect(await save.getAttribute('aria-disabled')).toBe('true')
  const act = async (rule: number, name: string): Promise<void> => {
    await form.getByRole('button', { name: `Actions for rule ${rule}` }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await act(2, 'Move up')
  await form.getByText('2 in ACCEPT dport 443').waitFor()
  await act(2, 'Edit')
  const rule = page.getByRole('dialog', { name: 'Edit rule 2' })
  await rule.getByRole('combobox', { name: 'Comment' }).or(rule.getByLabel('Comment')).fill('web')
  await visitor.accessible('a rule of a template')
  await rule.getByRole('button', { name: 'Save rule' }).click()
  await form.getByText('2 in ACCEPT dport 443 # web').waitFor()
  await form.getByRole('button', { name: 'Add rule' }).click()
  const next = page.getByRole('dialog', { name: 'Add rule' })
  await next.getByLabel('Destination port', { exact: true }).fill('80')
  await next.getByRole('button', { name: 'Save rule' }).click()
  await form.getByText('3 in ACCEPT dport 80').waitFor()
  await form.getByRole('button', { name: 'Delete office' }).click()
  expect(await page.locator('img').count()).toBe(0)
  await visitor.accessible('a template')
  await visitor.picture('firewall-template')

  // Somebody else was faster: each part is chosen by itself.
  const theirs = { rules: [{ type: 'in', action: 'REJECT', enable: 1 }] }
  await caller.must('PUT', `${path}/${made.id}`, { version: 1, name: 'web', description: 'all', content: theirs })
  await save.click()
  const meanwhile = form.getByRole('table', { name: 'Changed in the meantime' })
  await meanwhile.getByRole('row', { name: /^Name web/ }).waitFor()
  await visitor.accessible('a template that was changed meanwhile')
  await visitor.picture('firewall-template-meanwhile')
  await page.setViewportSize({ width: 360, height: 720 })
  await visitor.fits('a template at 360')
  await visitor.picture('firewall-template-360')
  await page.setViewportSize({ width: 1280, height: 720 })
  await form.getByRole('button', { name: 'Save template' }).click()
  await page.getByText('The template web was saved.').waitFor()
  const now = await template()
  expect(now.name).toBe('web')
  expect(now.content.rules).toMatchObject([{ action: 'DROP' }, { dport: '443', comment: 'web' }, { dport: '80' }])
  expect(now.content.aliases ?? []).toEqual([])
  expect(now.content.options).toEqual({ policy_in: 'DROP' })
  await visitor.leave()
})
