// A file of 200 MB: refused for its checksum before anything is sent, canceled, and sent while one looks at other pages. Then what is on
// storages, and whose it is; a storage is attached, changed and detached.
import { createHash } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, ftruncateSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { Visitor } from './start'

const markup = `<img src=x onerror="document.title='taken'">&lt;b>`
const hostile = `${markup}${String.fromCharCode(0x202e)}${String.fromCharCode(7)}`
const long = hostile.repeat(200)

const size = 200 << 20
let folder: string
let big: string
let small: string
let sum: string

stage()
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hostler-upload-'))
  big = join(folder, 'big.iso')
  small = join(folder, 'small.iso')
  writeFileSync(small, 'a small file')
  // It is sparse: only its begin takes room.
  const file = openSync(big, 'w+')
  writeSync(file, 'hostler')
  ftruncateSync(file, size)
  const hash = createHash('sha256')
  const piece = Buffer.alloc(8 << 20)
  for (let at = 0; at < size; at += piece.length) hash.update(piece.subarray(0, readSync(file, piece, 0, piece.length, at)))
  closeSync(file)
  sum = hash.digest('hex')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** slow makes a page's network slow, in bytes a second, until what it yields is called. */
async function slow(page: Page, uploadThroughput: number): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput })
  return () => session.detach()
}

interface Volume {
  volid: string
  name: string
  size_bytes: number
}
const onLocal = (): Promise<Volume[]> => caller.must<Volume[]>('GET', '/api/v1/storage/1/local/content')

test('200 MB: checksum, cancel, another page, the job', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.cuts() // an upload is canceled
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && request.url().includes('/content') && sent.push(request.url()))
  await visitor.open('/storage')
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByText('Shared storages are counted once.').waitFor()
  await visitor.accessible('storages')
  await visitor.picture('storages')
  await main.getByRole('link', { name: 'local', exact: true }).click()
  await main.getByRole('rowheader', { name: 'debian-13.1.0-amd64-netinst.iso' }).waitFor()
  await visitor.accessible('storage')
  await visitor.picture('storage')

  // The wrong checksum is found before anything is sent.
  const choose = async (...files: string[]): Promise<void> => {
    const picker = main.getByLabel('Files', { exact: true })
    if ((await picker.count()) === 0) await main.getByRole('button', { name: 'Upload files' }).click()
    await picker.setInputFiles(files)
  }
  await choose(big)
  const field = main.getByLabel('SHA-256')
  await field.fill('nonsense')
  await main.getByText('A SHA-256 has 64 hexadecimal digits.').waitFor()
  await field.fill('a'.repeat(64))
  await main.getByRole('button', { name: 'As a command' }).click()
  await main.getByText('--form-string').waitFor()
  await visitor.accessible('chosen')
  await visitor.picture('upload-chosen')
  const go = main.getByRole('button', { name: /^Upload \d files?$/ })
  await go.click()
  const list = main.getByRole('region', { name: 'Uploads in this tab' })
  await list.getByText('The file does not match the given checksum.').waitFor()
  await list.getByText(sum).waitFor()
  expect(sent).toEqual([])
  await visitor.accessible('wrong checksum')
  await visitor.picture('upload-wrong')
  await list.getByRole('button', { name: 'Clear finished uploads' }).click()

  // It goes on while one looks at another page, and is canceled when one is back.
  const quick = await slow(page, 2 << 20)
  await choose(big)
  await go.click()
  await list.getByText(/MiB\/s/).waitFor()
  await visitor.picture('upload-sending')
  const bar = list.getByRole('progressbar')
  const before = Number(await bar.getAttribute('value'))
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Jobs' }).click()
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Storage' }).click()
  await expect.poll(async () => Number(await bar.getAttribute('value')), { timeout: 60_000 }).toBeGreaterThan(before)
  await visitor.accessible('sending')
  await list.getByRole('button', { name: 'Cancel upload of big.iso' }).click()
  await list.getByText('Canceled. No data was kept.').waitFor()
  await quick()
  expect((await onLocal()).map((one) => one.name)).not.toContain('big.iso')

  // Two at once, one of them with the right checksum, to their jobs' ends.
  await main.getByRole('link', { name: 'local', exact: true }).first().click()
  await choose(big, small)
  await field.first().fill(sum.toUpperCase())
  await go.click()
  await page.getByText('Upload big.iso: succeeded.').waitFor()
  await main.getByRole('rowheader', { name: 'big.iso' }).waitFor()
  await main.getByRole('rowheader', { name: 'small.iso' }).waitFor()
  await expect.poll(() => list.getByText(`The uploaded file has the correct SHA-256:`).count()).toBe(2)
  expect((await onLocal()).find((one) => one.name === 'big.iso')?.size_bytes).toBe(size)
  await visitor.accessible('uploaded')
  await visitor.picture('upload-done')

  // A name that is there is told before.
  await choose(small)
  await main.getByText('A file with this name already exists.').waitFor()
  expect(await go.getAttribute('aria-disabled')).toBe('true')
  await main.getByLabel('Overwrite existing files').check()
  await go.click()
  await expect.poll(() => list.getByText('succeeded').count(), { timeout: 60_000 }).toBe(3)

  // What is deleted is named.
  await main.getByRole('button', { name: 'Actions for big.iso' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const ask = page.getByRole('dialog', { name: 'Delete big.iso' })
  await ask.getByLabel('Type big.iso').fill('big.iso')
  await visitor.accessible('delete')
  await visitor.picture('volume-delete')
  await ask.getByRole('button', { name: 'Delete big.iso' }).click()
  await page.getByText('Delete big.iso: succeeded.').waitFor()
  await main.getByRole('rowheader', { name: 'big.iso' }).waitFor({ state: 'detached' })
  await visitor.leave()
})

test('a disk that is used is told whose it is, and stays', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await visitor.open('/storage/1/local-lvm?kind=disk')
  await visitor.logIn()
  const main = page.getByRole('main')
  const row = main
    .getByRole('row')
    .filter({ has: page.getByRole('cell').getByRole('link') })
    .first()
  const owner = await row.getByRole('link').innerText()
  await row.getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const ask = page.getByRole('dialog')
  await ask.getByText(`${owner} uses it.`).waitFor()
  expect(await ask.getByRole('textbox').count()).toBe(0)
  expect(await ask.getByRole('button', { name: /^Delete/ }).getAttribute('aria-disabled')).toBe('true')
  await visitor.accessible('in use')
  await visitor.picture('volume-in-use')
  await page.keyboard.press('Escape')
  await visitor.leave()
})

test('download, template, attach, change, detach', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(422)
  await visitor.open('/storage/1/local')
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByRole('button', { name: 'Download from URL' }).click()
  const download = page.getByRole('dialog', { name: 'Download from URL' })
  await download.getByLabel('URL').fill('https://anna:secret@files.example.com/small-2.iso')
  await download.getByLabel('Checksum').fill('ab'.repeat(32))
  await download.getByText('Detected algorithm: sha256.').waitFor()
  await download.getByLabel('Do not verify the server').check()
  await download.getByRole('button', { name: 'Download', exact: true }).click()
  await download.locator('.fault').waitFor()
  await visitor.accessible('download')
  await visitor.picture('download')
  await page.keyboard.press('Escape')
  await download.waitFor({ state: 'detached' })
  await main.getByRole('button', { name: 'Download template' }).click()
  const templates = page.getByRole('dialog', { name: 'Download template' })
  await templates.getByRole('radio', { disabled: false }).first().check()
  await visitor.accessible('templates')
  await visitor.picture('templates')
  await templates.getByRole('button', { name: 'Download', exact: true }).click()
  await page.getByText(/^Download .*: succeeded\.$/).waitFor()

  // What its type needs is asked for, and a secret is shown nowhere.
  await visitor.open('/storage')
  await main.getByRole('button', { name: 'Attach storage' }).click()
  const attach = page.getByRole('dialog', { name: 'Attach storage' })
  await attach.getByLabel('Type', { exact: true }).selectOption('cifs')
  await attach.getByLabel('Name', { exact: true }).fill('archive')
  await attach.getByLabel('server', { exact: true }).fill('nas.example.com')
  await attach.getByText('Required: share').waitFor()
  await attach.getByLabel('share', { exact: true }).fill('vms')
  await attach.getByLabel('iso', { exact: true }).check()
  await attach.getByText('More settings').click()
  await attach.getByLabel('password').fill('a-secret-of-the-share')
  await attach.getByRole('button', { name: 'As a command' }).click()
  await attach.getByText('curl -sS').waitFor()
  expect(await attach.innerText()).not.toContain('a-secret-of-the-share')
  await visitor.accessible('attach')
  await visitor.picture('attach')
  await attach.getByRole('button', { name: 'Attach', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'archive' }).waitFor()
  await visitor.picture('storage-attached')
  await main.getByRole('link', { name: 'Definition' }).click()
  await main.getByText('nas.example.com').waitFor()
  await main.getByRole('button', { name: 'Edit definition' }).click()
  expect(await main.getByLabel('server', { exact: true }).isDisabled()).toBe(true)
  await main.getByLabel('images', { exact: true }).check()
  await visitor.accessible('definition')
  await visitor.picture('storage-definition')
  await main.getByRole('button', { name: 'Save definition' }).click()
  await page.getByText('The definition of archive was changed.').waitFor()

  // Who would be stranded is told before.
  await visitor.open('/storage/1/local-lvm')
  await main.getByRole('button', { name: 'Detach' }).click()
  const detach = page.getByRole('dialog', { name: 'Detach local-lvm' })
  await detach
    .getByText(/loses \d of its disks/)
    .first()
    .waitFor()
  await visitor.accessible('detach')
  await visitor.picture('detach')
  await page.keyboard.press('Escape')
  await visitor.open('/storage/1/archive')
  await main.getByRole('button', { name: 'Detach' }).click()
  const gone = page.getByRole('dialog', { name: 'Detach archive' })
  await gone.getByLabel('Type archive').fill('archive')
  await gone.getByRole('button', { name: 'Detach archive' }).click()
  await page.getByRole('heading', { level: 1, name: 'Storage' }).waitFor()
  await page.getByText('The storage archive was detached.').waitFor()
  await visitor.leave()
})

test('names are text, whatever is in them', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await page.route(/\/api\/v1\/storage(\/1\/local(\/content)?)?(\?|$)/, async (route) => {
    const response = await route.fetch()
    const json = (await response.json()) as Record<string, unknown> | Record<string, unknown>[]
    if (!Array.isArray(json)) Object.assign(json.config as object, { path: long, [hostile]: hostile })
    else if (route.request().url().includes('/content'))
      json.push({ ...json[0], volid: long, name: long, notes: long, guest_ref: hostile, parent: hostile, format: hostile })
    else for (const one of json) Object.assign(one, { host: hostile, cluster: hostile, type: hostile, content: [hostile, 'iso'] })
    await route.fulfill({ response, json, headers: { ...response.headers(), 'x-hidden-content': 'images' } })
  })
  await visitor.open('/storage')
  await visitor.logIn()
  for (const path of ['/storage', '/storage/1/local', '/storage/1/local?part=nodes', '/storage/1/local?part=definition']) {
    await visitor.open(path)
    await page.getByRole('main').locator('table, dl').first().waitFor()
    const name = path.replaceAll(/[/?=]/g, '-').slice(1)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 720 })
        expect(await page.locator('img').count(), path).toBe(0)
        await visitor.accessible(`${path} at ${width}`, colorScheme === 'dark')
        await visitor.fits(`${path} at ${width}`)
        await visitor.picture(`hostile-${name}-${colorScheme}-${width}`)
      }
    }
    await page.setViewportSize({ width: 1280, height: 720 })
  }
  // A file may be called anything.
  await page.emulateMedia({ colorScheme: 'light' })
  await visitor.open('/storage/1/local')
  await page.getByRole('button', { name: 'Upload files' }).click()
  const odd = { name: `${hostile}.iso`, mimeType: 'application/octet-stream', buffer: Buffer.from('x') }
  await page.getByLabel('Files', { exact: true }).setInputFiles([odd])
  await page.getByLabel('SHA-256').waitFor()
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 720 })
    expect(await page.locator('img').count()).toBe(0)
    await visitor.accessible(`a file's name at ${width}`)
    await visitor.fits(`a file's name at ${width}`)
    await visitor.picture(`hostile-upload-${width}`)
  }
  expect(await page.title()).not.toContain('taken')
  await visitor.leave()
})
