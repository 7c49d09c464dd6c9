// The API reference: every operation for everybody, and requests that are tried with an API key and never with the reader's session.
import { expect, test } from 'vitest'
import words from '../src/words/en.json'
import { browser, caller, service, stage } from './stage'
import { limit, Visitor } from './start'

stage()

test('read an operation and try it with a key', async () => {
  const { key } = await caller.must<{ key: string }>('POST', '/api/v1/api-keys', { name: 'reader', scopes: ['read'] })
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await visitor.open('/')
  await visitor.logIn()
  await visitor.step('/about')
  await page.getByRole('link', { name: words['about.api'] }).click()
  await page.waitForURL('**/api-docs.html')
  // What guards an operation is said with it.
  // Drawing 341 operations takes long on a busy machine.
  await page
    .locator('.nav-bar-path', { hasText: 'List hosts' })
    .first()
    .click({ timeout: 3 * limit })
  await page.getByText('or an API key with the scope').first().waitFor()
  await visitor.picture('api-reference')
  // The reader is logged in, and the request is refused all the same: it has no key.
  const tried = async (): Promise<number> => {
    const answer = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/v1/hosts')
    await page.getByRole('button', { name: 'TRY', exact: true }).click()
    return (await answer).status()
  }
  expect(await tried()).toBe(401)
  await page.getByText('Authentication', { exact: true }).first().click()
  await page.getByPlaceholder('api-token').fill(key)
  await page.getByRole('button', { name: 'SET', exact: true }).last().click()
  await page.locator('.nav-bar-path', { hasText: 'List hosts' }).first().click()
  expect(await tried()).toBe(200)
  await page.getByText('"tls_fingerprint"').first().waitFor()
  await visitor.picture('api-reference-tried')
  // Nothing of the key is kept.
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
  expect(kept).not.toContain(key)
  expect(await page.evaluate(() => document.cookie)).not.toContain(key)
  await page.emulateMedia({ colorScheme: 'dark' })
  await visitor.picture('api-reference-dark')
  await visitor.leave({ ofLibrary: true })
})
