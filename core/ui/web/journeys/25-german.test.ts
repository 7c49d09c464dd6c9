// German: chosen at the log-in or by the browser, kept for the person in every browser of theirs, and taken back; nothing typed is lost.
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { browser, caller, service, stage } from './stage'
import { Caller, owner, until, Visitor } from './start'

const viewer = { email: 'vera@example.com', password: 'nine-purple-giraffes' }

stage()

/** wordsOf are the languages whose words a page has loaded. */
function wordsOf(page: Page): Set<string> {
  const loaded = new Set<string>()
  page.on('request', (request) => {
    const language = /\/assets\/words-(en|de)-/.exec(request.url())?.[1]
    if (language) loaded.add(language)
  })
  return loaded
}

const speaks = (page: Page): Promise<string> => page.evaluate(() => document.documentElement.lang)

test('chosen at the log-in, and kept for the person', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const loaded = wordsOf(page)
  await visitor.open('/')
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  expect([await speaks(page), [...loaded]]).toEqual(['en', ['en']])
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Language').selectOption('Deutsch')
  await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
  // What was typed is still there, and what goes wrong is told in it.
  expect(await page.getByLabel('E-Mail').inputValue()).toBe(owner.email)
  expect(await speaks(page)).toBe('de')
  await page.getByLabel('Passwort').fill('wrong')
  await page.getByRole('button', { name: 'Anmelden' }).click()
  await page.getByText('E-Mail-Adresse, Passwort oder Code ist falsch.').waitFor()
  await visitor.accessible('log-in')
  await visitor.picture('german-login')
  await visitor.logIn()
  await page.getByRole('heading', { name: 'Übersicht' }).waitFor()
  expect(await page.title()).toBe('Übersicht · Hostler')
  await until('the service keeps it', async () => {
    const { value } = await caller.must<{ value: { language?: string } }>('GET', '/api/v1/auth/preferences')
    return value.language === 'de'
  })

  // From then on it is the only one that is loaded.
  loaded.clear()
  await visitor.open('/guests')
  await page.getByText(/^\d+ Gäste$/).waitFor()
  expect([await speaks(page), [...loaded]]).toEqual(['de', ['de']])
  await visitor.picture('german-guests')
  await visitor.leave()

  // Another browser of theirs gets it. What is shown and typed there stays while it comes.
  const other = await Visitor.arrive(browser, service.url)
  await other.open('/audit')
  await other.logIn()
  await other.page.getByLabel('Text').fill('vm.start')
  await other.page.getByRole('heading', { name: 'Prüfprotokoll' }).waitFor()
  expect(await other.page.getByLabel('Text').inputValue()).toBe('vm.start')
  await other.open('/account')
  await other.page.getByText('Texte des Dienstes').waitFor()
  await other.accessible('account')
  await other.picture('german-account')
  await other.page.getByLabel('Sprache').selectOption('English')
  await other.page.getByRole('heading', { name: 'Your account' }).waitFor()
  expect(await speaks(other.page)).toBe('en')
  await other.page.reload()
  await other.page.getByRole('heading', { name: 'Your account' }).waitFor()
  await other.leave()
})

test('the browser’s language, and why something cannot be done', async () => {
  await caller.must('POST', '/api/v1/users', { ...viewer, role: 'viewer' })
  const visitor = await Visitor.arrive(browser, service.url, { locale: 'de-AT' })
  const { page } = visitor
  const loaded = wordsOf(page)
  await visitor.open('/guests')
  await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
  await visitor.logIn(viewer)
  const make = page.getByRole('button', { name: 'VM anlegen' })
  const why = 'Erfordert hier die Rolle Admin. Ein Eigentümer kann sie vergeben.'
  // By keys, by the pointer, and to who reads it aloud.
  expect(await make.getAttribute('aria-description')).toBe(why)
  await make.focus()
  await page.keyboard.press('Enter')
  await page.getByText(why).waitFor()
  await visitor.accessible('why not')
  await visitor.picture('german-why')
  await page.keyboard.press('Escape')
  await page.getByText(why).waitFor({ state: 'detached' })
  await make.hover()
  await page.getByText(why).waitFor()
  expect(new URL(page.url()).pathname).toBe('/guests')
  expect([...loaded]).toEqual(['de'])
  // It is the browser's: nothing was chosen.
  const own = await new Caller(service.url).logIn(viewer.email, viewer.password)
  const { value } = await own.must<{ value: { language?: string } }>('GET', '/api/v1/auth/preferences')
  expect(value.language ?? '').toBe('')
  // The document of consoles, where no page shows it.
  await visitor.open('/console.html')
  await page.getByText('Hier zeigt die Seite von Hostler Konsolen.').waitFor()
  expect(await speaks(page)).toBe('de')
  await page.goBack()
  await page.getByRole('heading', { name: 'Gäste' }).waitFor()
  await visitor.leave()
})
