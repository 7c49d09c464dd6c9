import { expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import { command } from '../api/client'
import '../app/tokens.css'
import CommandOf from './Command.svelte'

const bidi = String.fromCharCode(0x202e)
const hostile = `'; $(id) ${bidi}<img src=x onerror=alert(1)>`

test('it shows itself on demand, as text, and can be copied', async () => {
  const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
  render(CommandOf, { command: command('post', '/api/v1/teams', { body: { name: hostile, slug: 'night' } }) })
  await expect.element(page.getByText(/^curl /)).not.toBeInTheDocument()
  await page.getByRole('button', { name: 'As a command' }).click()
  await expect.element(page.getByText(/^curl /)).toBeVisible()
  expect(document.querySelector('img')).toBeNull()
  await page.getByRole('button', { name: 'Copy the hostler command' }).click()
  expect(copied.mock.calls[0]![0]).toMatch(/^printf %s '.*night.*' \| hostler api POST '\/api\/v1\/teams' --input -$/)
  await page.getByRole('button', { name: 'Copy the curl command' }).click()
  expect(copied.mock.calls[1]![0]).toMatch(/^curl .*night.*'$/)
  await page.getByRole('button', { name: 'As a command' }).click()
  await expect.element(page.getByText(/^curl /)).not.toBeInTheDocument()
})
