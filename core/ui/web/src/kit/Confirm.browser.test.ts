import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import { Problem } from '../api/problem'
import type { components } from '../api/schema'
import '../app/tokens.css'
import Confirm from './Confirm.svelte'

function confirm(onact: (typed: string) => Promise<void>, phrase: string | null = 'web-1') {
  const onclose = vi.fn()
  const plan = {
    effects: [{ kind: 'guest', text: 'The VM web-1 is destroyed.', name: 'web-1' }],
    warnings: ['Its backups stay.'],
    blockers: [],
    confirm_phrase: phrase,
    is_self: true,
    digest: 'd',
  } as unknown as components['schemas']['Plan']
  render(Confirm, { title: 'Destroy web-1', text: 'All its data are lost.', plan, phrase, act: 'Destroy web-1', onact, onclose })
  return onclose
}

test('nothing happens before the phrase is right', async () => {
  const onact = vi.fn(() => Promise.resolve())
  const onclose = confirm(onact)
  for (const text of ['All its data are lost.', 'The VM web-1 is destroyed.', 'Its backups stay.']) {
    await expect.element(page.getByText(text)).toBeInTheDocument()
  }
  const field = page.getByLabelText('Type web-1')
  await field.fill('web-2')
  await userEvent.keyboard('{Enter}')
  await expect.element(page.getByRole('button', { name: 'Destroy web-1' })).toHaveAttribute('aria-disabled', 'true')
  expect(onact).not.toHaveBeenCalled()
  await field.fill('web-1')
  await userEvent.keyboard('{Enter}')
  await vi.waitFor(() => expect(onclose).toHaveBeenCalled())
  expect(onact).toHaveBeenCalledExactlyOnceWith('web-1')
})

test('an answer that asks for another phrase is asked with it', async () => {
  const renamed = new Problem({
    id: 'confirm_required',
    status: 409,
    detail: 'it is called web-9 now',
    members: { confirm_phrase: 'web-9' },
  })
  const onact = vi.fn<(typed: string) => Promise<void>>().mockRejectedValueOnce(renamed).mockResolvedValue(undefined)
  const onclose = confirm(onact)
  await page.getByLabelText('Type web-1').fill('web-1')
  await userEvent.keyboard('{Enter}')
  await page.getByLabelText('Type web-9').fill('web-9')
  expect(onclose).not.toHaveBeenCalled()
  await page.getByRole('button', { name: 'Destroy web-1' }).click()
  await vi.waitFor(() => expect(onclose).toHaveBeenCalled())
  expect(onact).toHaveBeenLastCalledWith('web-9')
})

test('what stands in the way is told, and nothing can be sent', async () => {
  const onact = vi.fn(() => Promise.resolve())
  const plan = {
    effects: [],
    warnings: [],
    blockers: [{ error: 'volume_in_use', detail: 'web-1 uses it.' }],
    confirm_phrase: 'a.iso',
    is_self: true,
    digest: 'd',
  } satisfies components['schemas']['Plan']
  const props = { title: 'Delete', text: 'It is lost.', plan, self: 'The way is cut.', phrase: 'a.iso', act: 'Delete' }
  render(Confirm, { ...props, onact, onclose: vi.fn() })
  await expect.element(page.getByText('web-1 uses it.')).toBeInTheDocument()
  await expect.element(page.getByText('The way is cut.')).toBeInTheDocument()
  expect(page.getByRole('textbox').elements()).toEqual([])
  await page.getByRole('button', { name: 'Delete' }).click({ force: true })
  expect(onact).not.toHaveBeenCalled()
})

test('Escape leaves it', async () => {
  const onact = vi.fn(() => Promise.resolve())
  const onclose = confirm(onact, null)
  await expect.element(page.getByRole('dialog', { name: 'Destroy web-1' })).toBeVisible()
  await userEvent.keyboard('{Escape}')
  expect(onclose).toHaveBeenCalled()
  expect(onact).not.toHaveBeenCalled()
})
