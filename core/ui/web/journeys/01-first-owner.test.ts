// First owner, log-out, log-in, second factor, recovery code.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { browser, service, stage } from './stage'
import { owner, Visitor } from './start'
import { code } from './totp'

stage({ owner: false })

test('first owner, second factor, recovery code', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const logOut = async (): Promise<void> => {
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
  }

  // Any address leads to the set-up while there is no owner.
  await visitor.open('/account')
  await page.getByRole('heading', { name: 'Set up' }).waitFor()
  await visitor.accessible('set-up')
  await visitor.picture('setup')

  // A wrong token and a common password are refused where they stand, and nothing typed is lost.
  visitor.provokes(422)
  await page.getByLabel('Setup token').fill('not-the-token')
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Name').fill('Anna Lee')
  await page.getByLabel('Password').fill('short')
  await page.getByText('Too short').waitFor()
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Create owner account' }).click()
  await page.getByText('The setup token is wrong.').waitFor()
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('setup-token')
  await visitor.accessible('set-up refused')
  await page.getByLabel('Setup token').fill(service.setupToken())
  await page.getByRole('button', { name: 'Create owner account' }).click()

  // The second factor is offered at once, and may wait.
  await page.getByRole('heading', { name: 'Second factor' }).waitFor()
  await visitor.accessible('second factor offered')
  await page.getByRole('button', { name: 'Later' }).click()
  // So may the first host, which is what comes next.
  await page.getByRole('heading', { name: 'Enrol a host' }).waitFor()
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByText('No hosts yet.').waitFor()
  await page.getByRole('button', { name: 'Account of Anna Lee' }).waitFor()
  await logOut()

  // A wrong password says no more than that.
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password').fill('wrong-yellow-donkeys')
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByText('The email address, password or code is wrong.').waitFor()
  await visitor.accessible('log-in refused')
  await visitor.picture('login-refused')
  await visitor.logIn()

  // The second factor: a picture, a secret, a code, recovery codes that must be kept.
  await visitor.open('/account')
  await page.getByRole('button', { name: 'Turn on' }).click()
  const picture = page.getByAltText('QR code for the second factor')
  await picture.waitFor()
  expect(await picture.evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth))).toBeGreaterThan(0)
  const secret = await page.locator('form', { has: picture }).locator('code').innerText()
  await page.getByLabel('Code').fill(code(secret))
  await page.getByRole('button', { name: 'Verify code' }).click()
  await page.getByText('The second factor is enabled.').waitFor()
  const codes = await page.getByRole('listitem').locator('code').allInnerTexts()
  expect(codes.length).toBe(10)
  await visitor.accessible('recovery codes')
  await visitor.picture('recovery-codes')
  await page.getByLabel('I have saved them').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('On. 10 recovery codes left.').waitFor()
  await logOut()

  // Log-in asks for the app's next code, for each works once.
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByText('The email address, password or code is wrong.').waitFor()
  await visitor.accessible('second factor asked for')
  await page.getByLabel('Code').fill(code(secret, 1))
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('banner').waitFor()
  await logOut()

  // A recovery code stands for one.
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('button', { name: 'Use recovery code' }).click()
  await page.getByLabel('Recovery code').fill(codes[0]!)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('banner').waitFor()
  await visitor.open('/account')
  await page.getByText('On. 9 recovery codes left.').waitFor()

  // How somebody came in, and that somebody did not; and all that is kept about a person, as a file.
  const history = page.getByRole('region', { name: 'Logins in the last 90 days' })
  await history.getByText('password and recovery code').waitFor()
  await history.getByText('password and second factor').waitFor()
  await history.getByText('Refused').first().waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export my data' }).click(),
  ])
  expect(readFileSync(await download.path(), 'utf8')).toContain(owner.email)

  // Nothing secret stays in the browser or in its addresses.
  const kept = await page.evaluate(
    () => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + location.href,
  )
  for (const word of [owner.password, secret, codes[0]!, service.url.length ? 'service_session' : ''])
    expect(kept).not.toContain(word)

  // A session that ends elsewhere asks for the log-in over the page, and goes on.
  await page.context().clearCookies()
  await page.getByLabel('Current password').fill('typed before')
  await page.getByRole('textbox', { name: 'New password' }).fill('another-fine-password')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('heading', { name: 'Log in again' }).waitFor()
  await visitor.accessible('log-in over the page')
  await visitor.picture('login-again')
  expect(await page.getByLabel('Current password').inputValue()).toBe('typed before')
  await visitor.leave()
})
