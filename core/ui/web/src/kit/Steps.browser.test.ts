import { expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import Steps from './Steps.svelte'

test('it says where one is and what is done, and goes only where one may', async () => {
  const onstep = vi.fn()
  const steps = ['address', 'script', 'tokens', 'done'].map((key) => ({ key, title: `<i>${key}</i>` }))
  render(Steps, { label: 'Steps', steps, at: 'script', open: new Set(['address', 'tokens']), onstep })
  expect(document.querySelector('nav i')).toBeNull()
  await expect.element(page.getByRole('button', { name: '<i>script</i>' })).toHaveAttribute('aria-current', 'step')
  await expect.element(page.getByRole('button', { name: '<i>address</i> (done)' })).toBeEnabled()
  await expect.element(page.getByRole('button', { name: '<i>done</i>' })).toBeDisabled()
  await page.getByRole('button', { name: '<i>script</i>' }).click()
  expect(onstep).not.toHaveBeenCalled()
  await page.getByRole('button', { name: '<i>address</i> (done)' }).click()
  await page.getByRole('button', { name: '<i>tokens</i>' }).click()
  expect(onstep.mock.calls).toEqual([['address'], ['tokens']])
})
