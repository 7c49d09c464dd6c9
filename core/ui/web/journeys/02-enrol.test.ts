// A host is enrolled by one paste, with a token that lacks something and is mended by the command that is shown; its certificate is
// renewed, its machine gets a key, and it is removed.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { startSimulator, until, Visitor, type Simulator } from './start'

/** A name full of markup. */
const name = `<b onclick=alert(1)>rack</b> &lt;1>`

let sim: Simulator
stage({ cluster: false })
beforeAll(async () => {
  sim = await startSimulator({ loopbacks: true })
})
afterAll(() => sim?.stop())

/** printed is what the script prints for these capabilities, as a terminal shows it. */
const printed = (capabilities: string[], change: (secret: string, capability: string) => string = (secret) => secret): string =>
  [
    'root@pve1:~# sh tokens.sh',
    '',
    'Enter these tokens in Hostler. The secrets are not shown again.',
    ...capabilities.flatMap((one) => {
      const { id, secret } = sim.ready.tokens[one]!
      return ['', `  ${one}`, `    token id: ${id}`, `    secret:   ${change(secret, one)}`]
    }),
    '',
    'root@pve1:~# ',
  ].join('\n')

/** mend does in the simulator what the command says, and holds that it says nothing else. */
async function mend(command: string): Promise<void> {
  const parts =
    /^pveum role add (\w+) 2>\/dev\/null; pveum role modify (\w+) --privs ([\w.,]+) && pveum acl modify '\/' --users '\S+' --roles \w+ && pveum acl modify '\/' --tokens '(\S+)' --roles (\w+)$/.exec(
      command,
    )
  expect(parts, command).not.toBeNull()
  const [, role, same, privileges, subject] = parts!
  expect(role).toBe(same)
  await sim.control('/role', { id: role, privileges: privileges!.split(',') })
  await sim.control('/acl', { path: '/', subject, role })
}

test('from no host to the first inventory', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(502, 422)
  await visitor.open('/')
  await visitor.logIn()
  const wanted = ['monitoring', 'lifecycle', 'console', 'backup']
  const next = (text: string): Promise<void> => page.getByRole('button', { name: text, exact: true }).click()

  // Nothing is there, and one thing is to be done.
  await page.getByText('No hosts yet.').waitFor()
  await visitor.accessible('empty overview')
  await visitor.picture('overview-empty')
  await page.getByRole('link', { name: 'Enrol your first host.' }).click()
  await page.getByRole('heading', { name: 'Address and certificate' }).waitFor()

  // An address where nothing answers, then the right one: the certificate is compared before anything goes on.
  const address = page.getByLabel('Address', { exact: true })
  await page.getByLabel('Hypervisor').selectOption('Proxmox VE')
  await address.fill('127.0.0.1:1')
  await next('Check certificate')
  await page.getByRole('alert').waitFor()
  await visitor.picture('enrol-nobody')
  // Who leaves in the first step finds what was entered, with a link or by beginning again.
  await page.getByRole('link', { name: 'Finish later' }).click()
  await page.getByText('You have not finished enrolling 127.0.0.1:1.').waitFor()
  await page.getByRole('link', { name: 'Continue', exact: true }).click()
  await page.getByRole('heading', { name: 'Address and certificate' }).waitFor()
  expect(await address.inputValue()).toBe('127.0.0.1:1')
  await visitor.step('/hosts')
  await page.getByRole('heading', { name: 'Hosts', exact: true }).waitFor()
  await visitor.step('/hosts/enrol')
  await page.getByRole('heading', { name: 'Address and certificate' }).waitFor()
  expect(await address.inputValue()).toBe('127.0.0.1:1')
  // As copied from the address bar of its own page.
  await address.fill(`${sim.ready.url}/#v1:0:18:4`)
  await next('Check certificate')
  await page.getByText(sim.ready.fingerprint).waitFor()
  expect(await address.inputValue()).toBe(sim.ready.url)
  await page.getByText('Not issued by a trusted authority. Compare the fingerprint yourself.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill(name)
  const on = page.getByRole('button', { name: 'Choose capabilities' })
  expect(await on.getAttribute('aria-disabled')).toBe('true')
  await visitor.accessible('certificate')
  await visitor.picture('enrol-certificate')
  await page.getByLabel('I compared the fingerprint and it matches').check()
  await on.click()

  // Who goes back finds the certificate again, without a path that was cut off.
  await page.getByRole('button', { name: 'Address and certificate' }).click()
  await page.getByText('You already compared this certificate.').waitFor()
  await next('Check certificate')
  await page.getByText(sim.ready.fingerprint).waitFor()
  expect(await address.inputValue()).toBe(sim.ready.url)
  await on.click()
  await page.getByRole('heading', { name: 'Capabilities' }).waitFor()
  expect(await page.getByLabel('Monitoring').isDisabled()).toBe(true)
  await page.getByLabel('Lifecycle').check()
  await page.getByLabel('Consoles').check()
  await page.getByLabel('Backups').check()
  await visitor.accessible('capabilities')
  await visitor.picture('enrol-capabilities')
  await next('Create script')

  // The script is read; a reload in the middle loses nothing, for all that is no secret is in the address.
  const script = page.getByRole('region', { name: 'Script that creates the tokens' })
  await script.waitFor()
  await page.reload()
  await script.waitFor()
  await page.getByRole('link', { name: 'Finish later' }).click()
  await page.getByText(`You have not finished enrolling ${name}.`).waitFor()
  await visitor.picture('hosts-unfinished')
  await page.getByRole('link', { name: 'Continue', exact: true }).click()
  await script.waitFor()
  expect(await script.textContent()).toContain("capability 'lifecycle'")
  await page.getByText('How to undo it').click()
  expect(await page.getByRole('region', { name: 'How to undo it' }).textContent()).toContain('pveum role delete')
  await visitor.accessible('script')
  await visitor.picture('enrol-script')
  await next('I ran it: enter the tokens')

  // Tokens that were entered by hand are still there after a step back.
  await page.getByRole('button', { name: 'Enter tokens manually' }).click()
  const byHand = page.getByRole('group', { name: 'Consoles' })
  await byHand.locator('input[type=password]').fill('half a secret')
  await page.getByRole('button', { name: /Capabilities/ }).click()
  await page.getByRole('heading', { name: 'Capabilities' }).waitFor()
  await page.getByRole('button', { name: 'Tokens', exact: true }).click()
  expect(await byHand.locator('input[type=password]').inputValue()).toBe('half a secret')
  await byHand.locator('input[type=password]').fill('')
  await page.getByRole('button', { name: "Paste the script's output" }).click()

  // A secret that is none, then the right ones of which one lacks privileges.
  const paste = page.getByLabel('Output of the script')
  const enrol = page.getByRole('button', { name: `Enrol ${name}` })
  const wrong = '00000000-0000-4000-8000-000000000000'
  await paste.fill(printed(wanted, (secret, one) => (one === 'backup' ? wrong : secret)))
  await page.getByText('rejected', { exact: true }).waitFor()
  expect(await enrol.getAttribute('aria-disabled')).toBe('true')
  await visitor.picture('enrol-wrong')
  const before = ['VM.Audit', 'VM.PowerMgmt', 'Realm.Allocate']
  await sim.control('/role', { id: 'ServiceLifecycle', privileges: before })
  await paste.fill(printed([...wanted, 'node_power'])) // which was not chosen
  await page.getByText('All tokens were accepted, but some lack privileges.').waitFor()
  await page.getByText('tokens that you did not choose: Node power').waitFor()
  const row = page.getByRole('listitem').filter({ hasText: sim.ready.tokens.lifecycle!.id })
  await row.getByText('VM.Migrate').first().waitFor()
  await row.getByText('Realm.Allocate').waitFor()
  await visitor.accessible('a token with too little')
  await visitor.picture('enrol-too-little')
  await mend((await row.locator('code').last().textContent())!.trim())
  await next('Check again')
  await row.getByText('OK', { exact: true }).waitFor()
  await page.getByText('All tokens were accepted.').waitFor()
  await visitor.picture('enrol-mended')
  await enrol.click()

  await page.getByText('Found 3 nodes and 24 guests.').waitFor()
  const [host] = await caller.must<{ capabilities: { key: string }[] }[]>('GET', '/api/v1/hosts')
  expect(host!.capabilities.map((one) => one.key)).toEqual(wanted)
  await visitor.accessible('arrived')
  await visitor.open('/hosts')
  await page.getByRole('link', { name, exact: true }).waitFor()
  expect(await page.getByText('You have not finished').count()).toBe(0)
  await page.goBack()
  await visitor.picture('enrol-done')
  // Nothing secret is in the storage, the address, the history or the page.
  const kept = await page.evaluate(
    () => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + location.href + document.body.innerHTML,
  )
  for (const { secret } of Object.values(sim.ready.tokens)) expect(kept).not.toContain(secret)
  for (let i = 0; i < 4; i++) {
    await page.goBack()
    expect(page.url()).not.toContain(sim.ready.tokens.monitoring!.secret)
  }
  await visitor.open('/')
  await page.getByRole('heading', { name: 'Inventory' }).waitFor()
  await page.getByRole('link', { name, exact: true }).first().waitFor()
  // It is one screen.
  const tall = await page.evaluate(() => document.documentElement.scrollHeight)
  expect(tall, 'height of the overview').toBeLessThanOrEqual(720)
  await visitor.picture('overview-enrolled')
  await visitor.leave()
})

test('a renewed certificate is compared and accepted', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(502)
  const host = (await caller.must<{ id: number }[]>('GET', '/api/v1/hosts'))[0]!.id
  await visitor.open(`/hosts/${host}`)
  await visitor.logIn()
  await page.getByRole('heading', { name }).waitFor()
  await page.getByRole('main').locator('header').getByText('online').waitFor()
  const { fingerprint } = await sim.control<{ fingerprint: string }>('/certificate')
  // The service finds it out by itself, and the page says so.
  await page.getByRole('heading', { name: `${name} has another certificate` }).waitFor()
  await page.getByRole('button', { name: /Check certificate now|Check again/ }).click()
  await page.getByText(fingerprint).waitFor()
  await page.getByText(sim.ready.fingerprint).first().waitFor()
  await visitor.accessible('two certificates')
  await visitor.picture('host-certificate')
  await page.getByRole('button', { name: 'Accept the change…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Type').fill('rack')
  const act = dialog.getByRole('button', { name: 'Accept new certificate' })
  expect(await act.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel('Type').fill(name)
  await visitor.accessible('take it')
  await visitor.picture('host-certificate-confirm')
  await act.click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('main').locator('header').getByText('online').waitFor()
  await page.getByRole('heading', { name: `${name} has another certificate` }).waitFor({ state: 'detached' })
  const now = await caller.must<{ tls_fingerprint: string }>('GET', `/api/v1/hosts/${host}`)
  expect(now.tls_fingerprint).toBe(fingerprint)
  await visitor.leave()
})

test('a capability is added, a key is made and deleted, and the host is removed', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(409, 502, 504)
  const host = (await caller.must<{ id: number }[]>('GET', '/api/v1/hosts'))[0]!.id
  await visitor.open(`/hosts/${host}?part=capabilities`)
  await visitor.logIn()
  await page.getByText(`${name} has no token for Node power.`).waitFor()
  await visitor.picture('host-capabilities')
  const row = page.getByRole('listitem').filter({ hasText: `${name} has no token for` })
  await row.getByRole('button', { name: 'Create script' }).click()
  const script = page.getByRole('region', { name: 'Script that creates the tokens' })
  await script.waitFor()
  expect(await script.textContent()).toContain("capability 'node_power'")
  await visitor.accessible('script of one')
  await page.getByText('How to undo it').click()
  const undo = await page.getByRole('region', { name: 'How to undo it' }).textContent()
  expect(undo).toContain('node_power')
  expect(undo).not.toContain('monitoring') // the host needs it
  await page.getByRole('button', { name: 'I ran it: enter the tokens' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Output of the script').fill(printed(['node_power']))
  await visitor.accessible('enter tokens')
  await visitor.picture('host-tokens')
  await dialog.getByRole('button', { name: 'Check and save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row.waitFor({ state: 'detached' })

  // SSH: the service's own text is read and agreed to, the line is there to be copied, and the key is deleted again.
  await page.getByRole('link', { name: 'SSH' }).click()
  await page.getByRole('button', { name: 'Create SSH key' }).click()
  const consent = page.getByRole('dialog', { name: 'Consent' })
  await consent.getByText('Whoever controls Hostler then controls this machine.').waitFor()
  const make = consent.getByRole('button', { name: 'Create SSH key' })
  expect(await make.getAttribute('aria-disabled')).toBe('true')
  await visitor.accessible('consent')
  await visitor.picture('host-ssh-consent')
  await consent.getByLabel('I consent.').check()
  await make.click()
  await page.getByRole('heading', { name: 'Install new key' }).waitFor()
  await page
    .getByText(/ssh-ed25519 /)
    .first()
    .waitFor()
  await visitor.accessible('key')
  await visitor.picture('host-ssh')
  await page.getByRole('button', { name: 'Delete key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete key' }).click()
  await page.getByRole('dialog', { name: 'The key was deleted' }).waitFor()
  await visitor.picture('host-ssh-deleted')
  await page.keyboard.press('Escape')

  // Nodes, tasks and members are asked of the hypervisor.
  await page.getByRole('link', { name: 'Nodes', exact: true }).click()
  await page.getByRole('link', { name: 'pve1', exact: true }).click()
  await page.getByRole('heading', { name: 'Disks' }).waitFor()
  await visitor.accessible('node')
  await visitor.picture('node')
  await page.goBack()
  await page.getByRole('link', { name: 'Cluster and certificates' }).click()
  await page.getByRole('button', { name: 'Find other nodes' }).click()
  await page.getByLabel('pve2').check()
  await visitor.picture('host-peers')
  await page.getByRole('button', { name: 'Enrol selected nodes' }).click()
  await page.getByText('pve2: enrolled').waitFor()
  await visitor.accessible('members')

  // A new address with another certificate: both are shown, with the command that tells which is right. Nothing is saved.
  await page.getByRole('main').getByRole('link', { name: 'Host settings' }).click()
  const elsewhere = await startSimulator()
  const where = page.getByLabel('Address', { exact: true })
  const old = await where.inputValue()
  await where.fill(elsewhere.ready.url)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: `${elsewhere.ready.url} has another certificate` }).waitFor()
  await page.getByText(elsewhere.ready.fingerprint).waitFor()
  await page.getByText(`openssl s_client -connect 127.0.0.1:${new URL(elsewhere.ready.url).port} `).waitFor()
  await page.getByRole('button', { name: 'Accept the change…' }).waitFor()
  await visitor.accessible('certificate of a new address')
  await visitor.picture('host-settings-certificate')
  await where.fill(old)
  await page.getByRole('button', { name: 'Accept the change…' }).waitFor({ state: 'detached' })
  await elsewhere.stop()

  // It is renamed and removed, with its plan; the name that is typed is the one of now.
  await page.getByRole('main').getByRole('link', { name: 'Host settings' }).click()
  await page.getByLabel('Name', { exact: true }).fill('rack2')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'rack2', exact: true }).waitFor()
  await visitor.picture('host-settings')
  await page.getByRole('button', { name: 'Remove host' }).click()
  const remove = page.getByRole('dialog', { name: 'Remove rack2' })
  await remove.getByText('Commands that remove its tokens').click()
  await remove.getByText("pveum user token remove 'service@pve' 'monitoring'").waitFor()
  await remove.getByLabel('Type rack2').fill('rack2')
  await visitor.accessible('remove')
  await visitor.picture('host-remove')
  await remove.getByRole('button', { name: 'Remove rack2' }).click()
  await page.getByRole('heading', { name: 'Hosts' }).waitFor()
  await page.getByRole('link', { name: 'pve2', exact: true }).waitFor()
  await page.getByRole('link', { name: 'rack2', exact: true }).waitFor({ state: 'detached' })
  await until('the host is gone', async () => (await caller.send('GET', `/api/v1/hosts/${host}`)).status === 404)
  await visitor.leave()
})
