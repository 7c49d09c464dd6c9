// The audit log: filter it, share the filter, see what was done with a key, verify the chain, take what is filtered home as a file.
import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { Visitor } from './start'

/** A name full of markup, and of what a spreadsheet would run. */
const hostile = `=cmd|'/C calc'!A0<img src=x onerror="document.title='taken'">`
/** More rows than a page has. */
const many = 60

stage({ cluster: false })
beforeAll(async () => {
  for (let i = 0; i < many; i++) await caller.must('PATCH', '/api/v1/teams/1', { description: `number ${i}` })
  await caller.must('POST', '/api/v1/teams', { name: hostile })
  const { key } = await caller.must<{ key: string }>('POST', '/api/v1/api-keys', { name: 'night watch', scopes: null })
  const named = await fetch(`${service.url}/api/v1/teams/1`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ description: 'by a key' }),
  })
  if (!named.ok) throw new Error(`the key: ${named.status}`)
  await caller.send('POST', '/api/v1/users', { email: 'x@example.com', password: 'passwordpassword' })
})

test('filter, verify, export', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { acceptDownloads: true })
  const { page } = visitor
  await visitor.open('/audit')
  await visitor.logIn()
  const rows = page.getByRole('list', { name: 'Audit log' }).getByRole('listitem')
  await page.getByText('with key night watch of anna@example.com from 127.0.0.1').waitFor()
  expect(await rows.count()).toBe(50)
  await visitor.accessible('the trail')

  // More than a page.
  await page.getByRole('button', { name: 'Older' }).click()
  await page.waitForURL(/page=2/)
  await page.getByText('owner.create').or(page.getByText('setup')).first().waitFor()

  // Narrowed, all of it in the address: a reload and another browser show the same.
  await page.getByRole('searchbox', { name: 'Text' }).fill('=cmd')
  await page.waitForURL(/search=%3Dcmd/)
  await page.getByText(hostile).first().waitFor()
  await expect.poll(() => rows.count()).toBe(1)
  expect(await page.title()).toBe('Audit log · Hostler')
  await page.reload()
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByRole('button', { name: 'Clear filter' }).click()
  await expect.poll(() => rows.count()).toBe(50)
  await page.getByLabel('Result').selectOption('refused')
  await page.waitForURL(/result=refused/)
  await expect.poll(() => rows.count()).toBeLessThan(5)
  await rows.filter({ hasText: 'user.create' }).first().locator('summary').click()
  await page.getByText('Some fields are not valid.').waitFor()
  await visitor.accessible('a row with its details')
  await visitor.picture('audit-row')
  await page.getByLabel('Result').selectOption('')
  await page.getByLabel('Action').fill('team.*')
  await page.waitForURL(/action=team/)
  await page.getByLabel('User').selectOption('api_key')
  await expect.poll(() => rows.count()).toBe(1)

  // Times are those of the clock that is shown: nothing was done before this century.
  await page.getByLabel('User').selectOption('')
  await page.getByLabel('Before').fill('2001-01-01T00:00')
  await page.waitForURL(/to=2000-12-31T23/)
  await page.getByText('No matches.').waitFor()
  await visitor.picture('audit-nothing')
  await page.getByLabel('Before').fill('')
  await expect.poll(() => rows.count()).toBe(50)

  // As files, exactly what is filtered, however many pages that are.
  const total = many + 2
  for (const [format, type] of [
    ['CSV', '.csv'],
    ['JSONL', '.jsonl'],
  ] as const) {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: format, exact: true }).click(),
    ])
    expect(file.suggestedFilename()).toMatch(new RegExp(`^audit-.*\\${type}$`))
    const text = readFileSync(await file.path(), 'utf8')
    const lines = text.trimEnd().split('\n')
    expect(lines.length).toBe(total + (format === 'CSV' ? 1 : 0))
    expect(lines.every((line, i) => line.includes('team.') || (format === 'CSV' && i === 0))).toBe(true)
    // No cell is a formula.
    if (format === 'CSV') expect(text).not.toMatch(/(^|,)"?=/m)
  }

  // The chain is read and is good.
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
  await page.getByText(/Verified: all \d+ entries are unchanged/).waitFor()
  await visitor.picture('audit-verified')

  // Clearing is asked about with what would go, and can be left.
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.getByRole('button', { name: 'Preview' }).click()
  const dialog = page.getByRole('dialog', { name: 'Clear' })
  await dialog.getByText('Type clear audit log').waitFor()
  await dialog.getByRole('button', { name: 'As a command' }).click()
  await dialog.getByText(/^curl .* DELETE/).waitFor()
  await visitor.accessible('clearing')
  await visitor.picture('audit-clear')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await visitor.fits('the trail')
  await visitor.leave()
})

// Somebody who looks after one team sees what was done to its things, and cannot judge the whole chain.
test('an admin of a team', async () => {
  const team = await caller.must<{ id: number }>('POST', '/api/v1/teams', { name: 'blue' })
  const blue = { email: 'bob@example.com', password: 'ten-blue-giraffes-run', role: null }
  const user = await caller.must<{ id: number }>('POST', '/api/v1/users', blue)
  await caller.must('PUT', `/api/v1/teams/${team.id}/members/${user.id}`, { role: 'admin' })
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await visitor.open('/audit')
  await visitor.logIn(blue)
  await page.getByText('team.create').waitFor()
  expect(await page.getByText('night watch').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Verify', exact: true }).getAttribute('aria-disabled')).toBe('true')
  await page.getByText('Requires the role admin here. An owner can grant it.').first().waitFor()
  await visitor.leave()
})

test('metrics are sent elsewhere, and the trail tells of it', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  visitor.provokes(422)
  await visitor.open('/settings')
  await visitor.logIn()
  const main = page.getByRole('main')
  await main.getByRole('link', { name: 'Remote write' }).click()
  await main.getByText('No receiver.').waitFor()
  await visitor.accessible('no receiver')
  await visitor.picture('remote-none')

  // A secret goes only over TLS, and is in no command and on no page.
  await main.getByRole('button', { name: 'Set receiver' }).click()
  const form = page.getByRole('dialog', { name: 'Set receiver' })
  const send = form.getByRole('button', { name: 'Save receiver' })
  await form.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1:9/api/v1/write')
  await form.getByLabel('Authentication').selectOption('token')
  expect(await send.getAttribute('aria-disabled')).toBe('true')
  await form.getByLabel('Token', { exact: true }).fill('hush-hush')
  await form.getByRole('button', { name: 'As a command' }).click()
  expect(await form.getByText(/^curl /).textContent()).toContain('"bearer_token":"…"')
  await send.click()
  await form.getByRole('button', { name: /^URL: / }).waitFor()
  await visitor.accessible('a refused receiver')
  await visitor.picture('remote-refused')
  await form.getByRole('textbox', { name: 'URL' }).fill('https://127.0.0.1:9/api/v1/write')
  await send.click()
  await page.getByText('The receiver was saved.').waitFor()
  await main.getByText('https://127.0.0.1:9/api/v1/write').waitFor()
  expect(await page.content()).not.toContain('hush-hush')
  await visitor.accessible('a receiver')
  await visitor.picture('remote')

  // What a receiver answers is text, whatever is in it.
  const long = hostile.repeat(200)
  await page.route(/\/metrics\/remote-write$/, async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    const state = (await response.json()) as object
    const more = { last_error: long, username: hostile, failures: 3, last_error_at: '2026-01-02T03:04:05Z', late_s: 7200 }
    await route.fulfill({ response, json: { ...state, ...more, samples_refused: 7 } })
  })
  await page.reload()
  await main.getByText('The last 3 attempts failed.').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  for (const [width, colorScheme] of [
    [1280, 'dark'],
    [360, 'light'],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 720 })
    await visitor.accessible(`a receiver that fails at ${width}`)
    await visitor.fits(`a receiver that fails at ${width}`)
    await visitor.picture(`remote-fails-${width}`)
  }
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.unroute(/\/metrics\/remote-write$/)

  await main.getByRole('button', { name: 'Remove receiver' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove receiver' }).click()
  await main.getByRole('button', { name: 'Set receiver' }).waitFor()
  const trail = await caller.must<{ action: string }[]>('GET', '/api/v1/audit?action=metrics.*')
  expect(trail.map(({ action }) => action).slice(0, 2)).toEqual(['metrics.remote_write_end', 'metrics.remote_write'])
  expect(JSON.stringify(trail)).not.toContain('hush-hush')
  await visitor.leave()
})
