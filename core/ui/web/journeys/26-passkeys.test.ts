// A passkey is made, logs in alone, is the second factor after the password, and is deleted. Chromium has an authenticator of its own for
// tests, which signs as a real one does.
import { expect, test } from 'vitest'
import { browser, caller, service, stage } from './stage'
import { owner, Visitor } from './start'

stage({ cluster: false, named: true })

test('a passkey', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await visitor.open('/account')
  await visitor.logIn()

  // It is made once the password was given, and brings recovery codes.
  const card = page.getByRole('region', { name: 'Passkeys' })
  await card.getByRole('button', { name: 'Add a passkey' }).click()
  const adding = page.getByRole('dialog', { name: 'Add a passkey' })
  visitor.provokes(401, 422)
  await adding.getByLabel('Name').fill('Work <b>laptop</b>')
  await adding.getByLabel('Password').fill('wrong')
  await adding.getByRole('button', { name: 'Add a passkey' }).click()
  await adding.getByText('is not the current password', { exact: true }).waitFor()
  await visitor.accessible('adding a passkey')
  await visitor.picture('passkey-new')
  await adding.getByLabel('Password').fill(owner.password)
  await adding.getByRole('button', { name: 'Add a passkey' }).click()
  const codes = page.getByRole('dialog', { name: 'Recovery codes' })
  const recovery = await codes.getByRole('listitem').first().textContent()
  expect(await codes.getByRole('listitem').count()).toBe(10)
  await visitor.accessible('recovery codes')
  await visitor.picture('passkey-codes')
  await codes.getByLabel('I have saved them').check()
  await codes.getByRole('button', { name: 'Done' }).click()
  await card.getByText('Work <b>laptop</b>').waitFor()
  await visitor.accessible('passkeys')
  await visitor.picture('passkeys')

  // Alone it lets in, without a name or a password.
  const logOut = async (): Promise<void> => {
    await page.context().clearCookies()
    await page.goto(`${service.url}/account`)
    await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor()
  }
  await logOut()
  await visitor.accessible('log-in with passkeys')
  await visitor.picture('login-passkey')
  await page.getByRole('button', { name: 'Log in with a passkey' }).click()
  await card.getByText('Work <b>laptop</b>').waitFor()
  await page.getByText('passkey').first().waitFor()

  // After the password it is the second factor. Who declines it stays there, and a recovery code stands for it.
  const password = async (): Promise<void> => {
    await logOut()
    await page.getByLabel('Email').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
    await page.getByRole('button', { name: 'Use passkey' }).waitFor()
  }
  await password()
  await visitor.accessible('a passkey as second factor')
  await visitor.picture('login-passkey-factor')
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await page.getByRole('button', { name: 'Use passkey' }).click()
  await card.getByText('Work <b>laptop</b>').waitFor()
  await logOut()
  await page.getByRole('button', { name: 'Log in with a passkey' }).click()
  await page.getByText('The browser did not provide a passkey.').waitFor()
  await password()
  await page.getByLabel('Recovery code').fill(recovery ?? '')
  await page.getByRole('button', { name: 'Log in', exact: true }).click()

  // Renamed, and deleted with the password; then the password alone lets in.
  await card.getByRole('button', { name: 'Rename Work <b>laptop</b>' }).click()
  const renaming = page.getByRole('dialog', { name: 'Rename Work <b>laptop</b>' })
  await renaming.getByLabel('Name').fill('Old laptop')
  await renaming.getByRole('button', { name: 'Rename' }).click()
  await card.getByRole('button', { name: 'Delete Old laptop' }).click()
  const deleting = page.getByRole('dialog', { name: 'Delete Old laptop' })
  await deleting.getByText('It is your last second factor').waitFor()
  await deleting.getByLabel('Password').fill(owner.password)
  await deleting.getByRole('button', { name: 'Delete' }).click()
  await deleting.waitFor({ state: 'detached' })
  await card.getByText('Old laptop').waitFor({ state: 'detached' })
  await caller.logIn(owner.email, owner.password)
  await visitor.leave()
})
