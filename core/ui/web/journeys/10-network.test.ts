// The network of a node: what is staged is seen against what runs, applied with the node's name, and the node is waited for. Where the
// service's own way would go it says so, and what guests would notice is asked about.
import { expect, test } from 'vitest'
import { browser, caller, cluster, service, stage } from './stage'
import { Caller, Visitor } from './start'

/** A text full of markup, with a character that turns the direction of writing, and ten kilobytes of it. */
const markup = `<img src=x onerror="document.title='taken'">&lt;b>`
const hostile = `${markup}${String.fromCharCode(0x202e)}${String.fromCharCode(7)}`
const long = hostile.repeat(200)

const other = { email: 'olaf@example.com', password: 'nine-purple-giraffes' }

// Each node has an address of its own, so that the service's way to it can be told.
stage({ cluster: { loopbacks: true } })

interface Net {
  nodes: { node: string; staged: string | null; interfaces: { name: string; staged: string | null; mtu: number | null }[] }[]
}
const networkOf = async (node: string): Promise<Net['nodes'][number]> =>
  (await caller.must<Net>('GET', '/api/v1/network/bridges')).nodes.find((one) => one.node === node)!

test('stage, look, apply', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(422)
  await visitor.open('/network')
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByRole('link', { name: 'pve2' }).waitFor()
  // What guests receive and send, as a line and as a table.
  await main.getByRole('img', { name: /^Total guest traffic: received: / }).waitFor()
  await main.getByRole('button', { name: 'Show as tables' }).click()
  await main.getByRole('columnheader', { name: 'sent' }).waitFor()
  await visitor.accessible('throughput as a table')
  await main.getByRole('button', { name: 'Show as tables' }).click()
  await visitor.accessible('networks')
  await visitor.picture('networks')
  await page.keyboard.press('j')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('pve1')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'pve1' }).waitFor()
  await main.getByRole('rowheader', { name: 'vmbr0' }).waitFor()
  await visitor.accessible('network')
  await visitor.picture('network')

  // A new bridge is staged, and seen as what comes.
  await main.getByRole('button', { name: 'New bridge' }).click()
  const form = page.getByRole('dialog', { name: 'New bridge' })
  expect(await form.getByLabel('Name').inputValue()).toBe('vmbr1')
  await form.getByLabel('Ports').fill('eno2')
  await form.getByLabel('Address', { exact: true }).fill('nonsense')
  await form.getByLabel('Comment').fill(markup)
  await form.getByRole('button', { name: 'As a command' }).click()
  await form.getByText('curl -sS').waitFor()
  await visitor.accessible('new bridge')
  await visitor.picture('network-new')
  await form.getByRole('button', { name: 'Stage change' }).click()
  await form.locator('.fault').waitFor()
  await visitor.picture('network-refused')
  await form.getByLabel('Address', { exact: true }).fill('10.9.0.1/24')
  await form.getByRole('button', { name: 'Stage change' }).click()
  await form.waitFor({ state: 'detached' })
  const diff = main.getByRole('region', { name: 'Staged compared with running configuration' })
  await diff.getByText('iface vmbr1').waitFor()
  await main.getByRole('row', { name: /vmbr1.*staged: new/ }).waitFor()
  await main.getByText('vmbr1 created by anna@example.com').waitFor()
  await visitor.accessible('staged')
  await visitor.picture('network-staged')
  await page.emulateMedia({ colorScheme: 'dark' })
  await visitor.accessible('staged in the dark', true)
  await visitor.picture('network-staged-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 360, height: 720 })
  await visitor.fits('staged at 360')
  await visitor.picture('network-staged-360')
  await page.setViewportSize({ width: 1280, height: 720 })

  // It is applied with the node's name, and nothing happens before that is right.
  await main.getByRole('button', { name: 'Apply…' }).click()
  const ask = page.getByRole('dialog', { name: 'Apply network changes on pve1' })
  await ask.getByText('does not affect the path').waitFor()
  const yes = ask.getByRole('button', { name: 'Apply network changes on pve1' })
  await ask.getByRole('textbox').fill('pve2')
  await page.keyboard.press('Enter')
  expect(await yes.getAttribute('aria-disabled')).toBe('true')
  await visitor.accessible('apply')
  await visitor.picture('network-apply')
  await ask.getByRole('textbox').fill('pve1')
  await yes.click()
  await main.getByRole('heading', { name: 'Apply', exact: true }).waitFor()
  await page.getByText('Apply network changes on pve1: succeeded.').waitFor()
  await diff.waitFor({ state: 'detached' })
  await main.getByRole('rowheader', { name: 'vmbr1' }).waitFor()
  expect((await networkOf('pve1')).staged).toBeNull()
  await visitor.accessible('applied')
  await visitor.picture('network-applied')
  await visitor.leave()
})

test('the own way, and the guests', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await visitor.open('/network/1/pve1')
  await visitor.logIn()
  const main = page.getByRole('main')
  const menu = async (name: string, entry: string): Promise<void> => {
    await main.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
    await page.getByRole('menuitem', { name: entry, exact: true }).click()
  }
  const staged = main.getByRole('region', { name: 'Staged compared with running configuration' })

  // Guests would notice this one: they are named, and the bridge's name is wanted.
  await menu('vmbr0', 'Edit')
  const edit = page.getByRole('dialog', { name: 'Edit vmbr0' })
  await edit.getByLabel('MTU').fill('1400')
  await edit.getByRole('button', { name: 'Stage change' }).click()
  const hits = page.getByRole('dialog', { name: 'Guests affected by a change to vmbr0' })
  await hits.getByLabel('Type vmbr0').fill('vmbr0')
  await visitor.accessible('guests are hit')
  await visitor.picture('network-hits')
  await hits.getByRole('button', { name: 'Stage change' }).click()
  await edit.waitFor({ state: 'detached' })
  await main.getByRole('row', { name: /vmbr0.*staged: changed/ }).waitFor()
  expect((await networkOf('pve1')).interfaces.find((one) => one.name === 'vmbr0')?.mtu).toBe(1400)

  // The service reaches the node by it: that is said, and refused to who does not say the node's name.
  await main.getByRole('button', { name: 'Apply…' }).click()
  const ask = page.getByRole('dialog', { name: 'Apply network changes on pve1' })
  await ask.getByText("This may interrupt Hostler's connection to the node").waitFor()
  await ask.getByText('Nothing restores the current network').waitFor()
  await visitor.accessible('own way')
  await visitor.picture('network-own-way')
  await ask.getByRole('button', { name: 'Cancel' }).click()
  const refused = await caller.send<{ error: string }>('POST', '/api/v1/network/1/pve1/apply', {})
  expect([refused.status, refused.body.error]).toEqual([409, 'self_target'])
  await main.getByRole('button', { name: 'Discard staged changes' }).click()
  await page.getByText('The staged changes on pve1 were discarded.').waitFor()
  await staged.waitFor({ state: 'detached' })

  // A comment nobody notices. What others have staged is not dropped unasked.
  await menu('vmbr0', 'Edit')
  await edit.getByLabel('Comment').fill('to the office')
  await edit.getByRole('button', { name: 'Stage change' }).click()
  await staged.waitFor()
  await caller.must('POST', '/api/v1/users', { ...other, role: 'admin' })
  const admin = await new Caller(service.url).logIn(other.email, other.password)
  await admin.must('POST', '/api/v1/network/bridges', { host_id: 1, node: 'pve1', iface: 'vmbr5', config: {} })
  await page.keyboard.press('r')
  await main.getByText(`vmbr5 created by ${other.email}`).waitFor()
  await main.getByRole('button', { name: 'Discard staged changes' }).click()
  const drop = page.getByRole('dialog', { name: 'Discard staged changes on pve1' })
  await drop.getByText(`vmbr5 (${other.email})`).waitFor()
  await visitor.picture('network-drop')
  await drop.getByRole('button', { name: 'Discard staged changes' }).click()
  await staged.waitFor({ state: 'detached' })
  const removable = main.getByRole('button', { name: 'Actions for eno1', exact: true })
  await removable.click()
  await page.getByRole('menuitem', { name: 'This is a hardware device' }).waitFor()
  await page.keyboard.press('Escape')
  await visitor.leave()
})

test('a node that does not answer is waited for', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(502, 504)
  await cluster.control('/network', { node: 'pve2', apply: { cuts: true } })
  const bridge = { host_id: 1, node: 'pve2', iface: 'vmbr7', config: { comment: 'far away' } }
  await caller.must('POST', '/api/v1/network/bridges', bridge)
  await visitor.open('/network/1/pve2')
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByRole('button', { name: 'Apply…' }).click()
  const ask = page.getByRole('dialog', { name: 'Apply network changes on pve2' })
  await ask.getByRole('textbox').fill('pve2')
  await ask.getByRole('button', { name: 'Apply network changes on pve2' }).click()
  await main.getByText('Waiting for pve2 to respond.').waitFor()
  await main.getByText('the node does not answer').waitFor()
  await visitor.accessible('waited for')
  await visitor.picture('network-waits')
  await cluster.mend()
  await page.getByText('Apply network changes on pve2: succeeded.').waitFor()
  await main.getByRole('rowheader', { name: 'vmbr7' }).waitFor()
  await visitor.leave()
})

test('names are text, whatever is in them, and a node that cannot be asked says why', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await page.route(/\/api\/v1\/network\/bridges(\?|$)/, async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as Record<string, Record<string, unknown>[]>
    const { interfaces } = json.nodes![0] as { interfaces: Record<string, unknown>[] }
    Object.assign(interfaces.at(-1)!, { comment: long, ports: [hostile], cidr: hostile, staged: 'changed' })
    Object.assign(json.nodes![0]!, {
      staged: `--- a\n+++ b\n@@ -1 +1 @@\n-${long}\n+${hostile}\n`,
      staged_by: [{ interface: hostile, action: 'edit', user: hostile, at: '2026-01-01T00:00:00Z' }],
    })
    const guest = { ...json.attachments![0], cluster_id: 1, node: 'pve1', bridge: 'vmbr0', guest_id: 1, name: hostile }
    json.attachments = [guest, ...json.attachments!]
    const failure = { host_id: 1, host: hostile, node: hostile, error: 'hypervisor_error', detail: long, missing: [hostile] }
    json.errors = [{ ...failure, reason: 'permission', remedy: `pveum ${hostile}` }]
    await route.fulfill({ response, json })
  })
  await visitor.open('/network')
  await visitor.logIn()
  for (const path of ['/network', '/network/1/pve1']) {
    await visitor.open(path)
    const name = path.replaceAll('/', '-').slice(1)
    await page.getByRole('main').getByRole('table').first().waitFor()
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 720 })
      expect(await page.locator('img').count(), path).toBe(0)
      await visitor.accessible(`${path} at ${width}`)
      await visitor.fits(`${path} at ${width}`)
      await visitor.picture(`hostile-${name}-${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 720 })
  }
  expect(await page.title()).not.toContain('taken')
  await visitor.leave()
})
