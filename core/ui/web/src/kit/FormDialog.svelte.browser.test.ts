import { createRawSnippet } from 'svelte'
import { afterEach, expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import { command } from '../api/client'
import '../app/tokens.css'
import FormDialog from './FormDialog.svelte'

const hostile = '<img src=x onerror=alert(1)>' + String.fromCharCode(0x202e)

afterEach(() => void vi.unstubAllGlobals())

/** answers makes the service return these responses in order, and returns the requests. */
function answers(...all: [status: number, body: unknown][]) {
  const asked = vi.fn(() => {
    const [status, body] = all.shift()!
    return Promise.resolve(new Response(JSON.stringify(body), { status }))
  })
  vi.stubGlobal('fetch', asked)
  return asked
}

async function form(more: Record<string, unknown> = {}) {
  const [onsent, onproblem, onclose] = [vi.fn(), vi.fn(), vi.fn()]
  // A field that shows its fault like the fields of the kit.
  const children = createRawSnippet((fault: () => (name: string) => string | undefined) => ({
    render: () => '<div><input name="name" aria-label="Name"><p class="fault"></p></div>',
    setup: (node) => {
      $effect.root(() => {
        $effect(() => {
          node.querySelector('.fault')!.textContent = fault()('name') ?? ''
        })
      })
    },
  }))
  const view = await render(FormDialog, {
    title: 'Add team',
    command: command('post', '/api/v1/teams', { body: { name: 'a' } }),
    act: 'Add it',
    labels: { name: 'Name' },
    onsent,
    onproblem,
    onclose,
    children,
    ...more,
  })
  return { view, onsent, onproblem, onclose }
}
const act = page.getByRole('button', { name: 'Add it' })

test('it is sent once, and closes when it was taken', async () => {
  let answer: (one: Response) => void = vi.fn()
  const asked = vi.fn(() => new Promise<Response>((resolve) => (answer = resolve)))
  vi.stubGlobal('fetch', asked)
  const { onsent, onclose } = await form()
  await page.getByRole('button', { name: 'As a command' }).click()
  await expect.element(page.getByText(/^curl .*"name":"a"/)).toBeVisible()
  page.getByRole('textbox').element().focus()
  await userEvent.keyboard('{Enter}{Enter}')
  await expect.element(act).toHaveAttribute('aria-disabled', 'true')
  answer(new Response('{"id":7}', { status: 201 }))
  await vi.waitFor(() => expect(onclose).toHaveBeenCalledOnce())
  expect(onsent).toHaveBeenCalledExactlyOnceWith({ id: 7 })
  expect(asked).toHaveBeenCalledOnce()
})

test('nothing is sent before there is something to send, nor by who may not', async () => {
  const asked = answers()
  const { view } = await form({ ready: false })
  page.getByRole('textbox').element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(act).toHaveAttribute('aria-disabled', 'true')
  await view.rerender({ ready: true, why: 'Needs the role owner.' })
  await userEvent.keyboard('{Enter}')
  await expect.element(act).toHaveAttribute('aria-description', 'Needs the role owner.')
  expect(asked).not.toHaveBeenCalled()
})

test('what is wrong is told, at its field where it has one, and what was typed stays', async () => {
  const detail = [{ loc: ['body', 'name', 'first'], msg: hostile, type: 'value_error' }]
  answers([422, { detail }], [409, { error: 'conflict', detail: 'there is one' }], [200, {}])
  const { onproblem, onclose } = await form()
  await act.click()
  await expect.element(page.getByRole('button', { name: /^Name: / })).toBeVisible()
  await expect.element(page.getByRole('textbox')).toHaveFocus()
  expect(document.querySelector('.fault')!.textContent).toBe(hostile)
  expect(document.querySelector('img')).toBeNull()
  await act.click()
  await expect.element(page.getByRole('alert').getByText('there is one')).toBeVisible()
  expect(document.querySelector('.fault')!.textContent).toBe('')
  expect(onproblem).toHaveBeenCalledTimes(2)
  expect(onclose).not.toHaveBeenCalled()
  await act.click()
  await vi.waitFor(() => expect(onclose).toHaveBeenCalledOnce())
})
