// Terminal and screen: type, paste, resize, lose and regain; what a hostile guest prints stays inside.
import { expect, test } from 'vitest'
import type { FrameLocator, Page } from 'playwright-core'
import { browser, caller, cluster, service, stage } from './stage'
import { until, Visitor } from './start'

stage()

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

/** app is a running app: a container that is adopted. */
async function app(): Promise<Entry> {
  const container = (await guests()).find((one) => one.kind === 'container' && one.status === 'running' && one.app_id === null)!
  const { host_id, guest_ref, name } = container
  await caller.must('POST', '/api/v1/apps/adopt', { items: [{ host_id, guest_ref, name }] })
  return (await guests()).find((one) => one.id === container.id)!
}

const inside = (page: Page): FrameLocator => page.frameLocator('iframe')
const rows = (page: Page): Promise<string> => inside(page).locator('.xterm-rows').innerText()
const prints = (page: Page, text: string): Promise<string | boolean> =>
  until(`the terminal prints ${text}`, async () => (await rows(page)).replaceAll('\u00a0', ' ').includes(text))

test('a terminal', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const guest = await app()
  await caller.must('PATCH', '/api/v1/settings', { 'console.record_apps': true }).catch(() => undefined)
  const addresses: string[] = []
  page.on('framenavigated', (frame) => addresses.push(frame.url()))
  await visitor.open(`/guests/${guest.id}`)
  await visitor.logIn()
  await page.getByRole('heading', { name: guest.name }).waitFor()
  await page.keyboard.press('c')
  await page.getByText('Connected', { exact: true }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/guests/${guest.id}/console`)

  // Type: the console has the keyboard at once, and single keys of the page are silent in it.
  await page.keyboard.type('echo gj?xr')
  await page.keyboard.press('Enter')
  await prints(page, '\ngj?xr')
  await visitor.accessible('terminal')
  await visitor.picture('console-terminal')

  // The guest knows how large it is, also when it changes.
  await page.keyboard.type('size\n')
  const told = async (): Promise<string> => [...(await rows(page)).matchAll(/(\d+x\d+)/g)].at(-1)?.[1] ?? ''
  const before = await until('a size', told)
  await page.setViewportSize({ width: 900, height: 640 })
  await until('another size', async () => (await told()) !== before)
  await page.setViewportSize({ width: 1280, height: 720 })
  const small = await until('the size before', async () => ((await told()) === before ? before : ''))
  await page.getByRole('button', { name: 'Larger text' }).click()
  await until('fewer columns', async () => Number((await told()).split('x')[0]) < Number(small.split('x')[0]))

  // Text of one line goes straight in; what has lines is shown first, without what controls a terminal.
  const paste = (text: string): Promise<void> =>
    inside(page)
      .locator('body')
      .evaluate((body, data) => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', data)
        body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
      }, text)
  await paste('echo one-line')
  await prints(page, 'echo one-line')
  await inside(page).locator('textarea').press('Enter')
  await prints(page, '\none-line')
  await paste('echo first\necho second\u001b[201~\n')
  const dialog = page.getByRole('dialog', { name: 'Paste text into the console' })
  await dialog.getByText('2 lines').waitFor()
  await dialog.getByText('1 control character is removed.').waitFor()
  await visitor.accessible('paste')
  await visitor.picture('console-paste')
  await dialog.getByRole('button', { name: 'Paste' }).click()
  await prints(page, '\nfirst')
  await prints(page, '\nsecond[201~')

  // Keys that the browser keeps, by the menu.
  await page.getByRole('button', { name: 'Send keys that the browser intercepts' }).click()
  await page.getByRole('menuitem', { name: 'Ctrl W' }).click()
  await inside(page).locator('textarea').press('Enter')
  await prints(page, ': not found')

  // The keyboard comes back by one key, and only that one is not the console's.
  await inside(page).locator('textarea').focus()
  await page.keyboard.press('Control+Shift+F10')
  await until('the keyboard is back', () => page.evaluate(() => document.activeElement?.closest('[role=toolbar]') != null))

  // What a guest prints is text, whatever it is: no title, no window, no element, no clipboard follows.
  const title = await page.title()
  const hostile = '<img src=x onerror=parent.document.title="taken">'
  await inside(page).locator('textarea').focus()
  await page.keyboard.type(`echo ${hostile}`)
  await page.keyboard.press('Enter')
  await prints(page, `\n${hostile}`)
  expect(await inside(page).locator('img').count()).toBe(0)
  expect(await page.title()).toBe(title)
  expect(page.context().pages()).toHaveLength(1)

  // The service goes away and comes back: the page says so, and connects again by itself.
  visitor.provokes(502, 503)
  visitor.cuts()
  const again = await service.pause()
  await page.getByText(/^Connection lost\. Retrying in/).waitFor()
  await visitor.picture('console-lost')
  await again()
  await page.getByText('Connected', { exact: true }).waitFor()
  await inside(page).locator('textarea').focus()
  await page.keyboard.type('echo back-again\n')
  await prints(page, '\nback-again')

  // The guest ends it: that is no fault, and it can be opened again.
  await page.keyboard.type('exit\n')
  await page.getByText('Ended', { exact: true }).waitFor()
  await visitor.picture('console-ended')
  await page.getByRole('button', { name: 'Reconnect' }).click()
  await page.getByText('Connected', { exact: true }).waitFor()

  // A ticket is in no address.
  for (const address of addresses) expect(address).not.toContain('ticket')
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }))).not.toContain(
    'ticket',
  )
  await visitor.leave()
})

test('a screen', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const all = await guests()
  const vm = all.find((one) => one.kind === 'vm' && one.status === 'running' && !one.template)!
  await visitor.open(`/guests/${vm.id}/console`)
  await visitor.logIn()
  await page.getByText('Connected', { exact: true }).waitFor()
  const canvas = inside(page).locator('canvas')
  await canvas.waitFor()
  const picture = async (): Promise<string> => (await canvas.screenshot()).toString('base64')
  await visitor.accessible('screen')
  await visitor.picture('console-screen')

  // Each key changes the picture of this guest.
  let before = await picture()
  await canvas.click()
  await page.keyboard.press('a')
  await until('a key', async () => (await picture()) !== before)
  before = await picture()
  await page.getByRole('button', { name: 'Send keys that the browser intercepts' }).click()
  await visitor.picture('console-keys')
  await page.getByRole('menuitem', { name: 'Ctrl Alt Del' }).click()
  await until('three keys', async () => (await picture()) !== before)
  before = await picture()
  await page.getByRole('button', { name: 'Paste' }).click()
  const dialog = page.getByRole('dialog', { name: 'Paste text into the console' })
  await dialog.getByRole('textbox').fill('Aé\n')
  await dialog.getByRole('button', { name: 'Paste' }).click()
  await until('a text', async () => (await picture()) !== before)

  // A guest without a serial port has no terminal: said in words, and the way back is there.
  visitor.provokes(422)
  await page.getByLabel('Console type').selectOption('terminal')
  await page.getByText('This VM has no terminal.').waitFor()
  await visitor.accessible('no terminal')
  await visitor.picture('console-refused')
  await page.getByRole('button', { name: 'Open graphical console' }).click()
  await page.getByText('Connected', { exact: true }).waitFor()

  // A window of its own, which goes on without the one before.
  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name: 'Open in new window' }).click()
  const own = await opened
  await own.getByText('Connected', { exact: true }).waitFor()
  await page.getByText('Ended', { exact: true }).waitFor()
  await own.reload()
  await own.getByText('Connected', { exact: true }).waitFor()
  await own.close()

  // Narrow.
  await page.setViewportSize({ width: 360, height: 720 })
  await page.getByRole('button', { name: 'Reconnect' }).click()
  await page.getByText('Connected', { exact: true }).waitFor()
  await visitor.fits('console at 360')
  await visitor.picture('console-360')
  await visitor.leave()
})

test('what stops a console is said', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const all = await guests()
  const stopped = all.find((one) => one.kind === 'vm' && one.status === 'stopped' && !one.template)!
  await visitor.open(`/guests/${stopped.id}/console`)
  await visitor.logIn()
  await page.getByText('The guest is not running. Start it first.').waitFor()
  await visitor.accessible('stopped')
  await visitor.picture('console-stopped')

  // The shell of a node, in a window of its own: off until somebody switches it on.
  const { host_id, node } = all[0]!
  visitor.provokes(409)
  await visitor.open(`/console/host/${host_id}?node=${node}`)
  await page.getByText('Node shells are disabled on this host.').waitFor()
  await visitor.accessible('shells are off')
  await visitor.picture('console-shell-off')
  await caller.must('PATCH', `/api/v1/hosts/${host_id}`, { node_shell_enabled: true })
  // The token may not: the command that grants it is there.
  visitor.provokes(502)
  await page.getByRole('button', { name: 'Reconnect' }).click()
  await page.getByText(/^pveum role modify ServiceConsole .*Sys\.Console$/).waitFor()
  await visitor.accessible('a privilege lacks')
  await visitor.picture('console-shell-denied')
  await cluster.control('/role', { id: 'ServiceConsole', privileges: ['VM.Console', 'Sys.Console'] })
  await page.getByRole('button', { name: 'Reconnect' }).click()
  await page.getByText('Connected', { exact: true }).waitFor()
  await visitor.picture('console-shell')
  // It ends in words when it may not be had any more.
  await caller.must('PATCH', `/api/v1/hosts/${host_id}`, { node_shell_enabled: false })
  await page.getByText('Not connected', { exact: true }).waitFor()
  await visitor.accessible('shell taken away')
  await visitor.picture('console-shell-gone')
  // The document of consoles by itself does nothing, and nobody else may frame the page.
  await visitor.open('/console.html')
  await page.getByText('The page of Hostler shows consoles in here.').waitFor()
  await visitor.open('/guests')
  await page.getByRole('heading', { name: 'Guests' }).waitFor()
  await visitor.leave()
})
