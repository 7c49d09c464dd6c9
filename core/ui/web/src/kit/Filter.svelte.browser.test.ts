import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import Filter from './Filter.svelte'
import { parse, type Fields } from './query'

const fields: Fields<never> = {
  fields: {
    status: { values: ['running', 'stopped'] },
    tag: { offers: () => ['big <b>one</b>', 'prod'] },
    cpu: { number: () => null },
  },
}
function show(): { keys: string[] } {
  const props = $state({ query: '', keys: [] as string[] })
  render(Filter, {
    label: 'Filter things',
    fields: fields as Fields<unknown>,
    get query() {
      return props.query
    },
    set query(next: string) {
      props.query = next
    },
    get misfits() {
      return parse(props.query, fields).misfits
    },
    ontyped: () => undefined,
    onkeydown: (event: KeyboardEvent) => void props.keys.push(event.key),
  })
  return props
}
const field = () => page.getByRole('searchbox', { name: 'Filter things' })
const query = () => (field().element() as HTMLInputElement).value

test('fields and their values are completed by keyboard', async () => {
  const props = show()
  await userEvent.type(field(), 'web st')
  await expect.element(page.getByRole('option', { name: 'status:' })).toBeInTheDocument()
  await userEvent.keyboard('{ArrowDown}{Enter}')
  await expect.poll(query).toBe('web status:')
  // The values are suggested at once.
  await expect.element(page.getByRole('option', { name: 'running' })).toBeInTheDocument()
  await userEvent.keyboard('{ArrowDown}{ArrowDown}{Enter}')
  await expect.poll(query).toBe('web status:stopped ')
  await expect.element(page.getByRole('option')).not.toBeInTheDocument()
  // Keys without a suggestion go to the list.
  await userEvent.keyboard('{ArrowDown}')
  expect(props.keys.at(-1)).toBe('ArrowDown')
  expect(props.keys.filter((key) => key === 'ArrowDown')).toHaveLength(1)
})

test('a value with blanks is quoted, and a click takes it', async () => {
  show()
  await userEvent.type(field(), 'tag:b')
  await page.getByRole('option', { name: 'big <b>one</b>' }).click()
  await expect.poll(query).toBe('tag:"big <b>one</b>" ')
})

test('what cannot be meant is told at the field', async () => {
  show()
  await userEvent.fill(field(), 'cpu:>x')
  await expect.element(page.getByText(/cpu takes a number/)).toBeInTheDocument()
  await expect.element(field()).toHaveAttribute('aria-invalid', 'true')
  const described = field().element().getAttribute('aria-describedby')!
  expect(document.getElementById(described)!.textContent).toContain('cpu takes a number')
  await userEvent.fill(field(), 'status:gone')
  await expect.element(page.getByText(/status must be one of: running, stopped/)).toBeInTheDocument()
  await userEvent.fill(field(), `<img src=x onerror="alert(1)">${'x'.repeat(10_000)}`)
  await expect.element(page.getByText('Only the first 1000 characters are used.')).toBeInTheDocument()
  expect(document.querySelector('.filter img')).toBeNull()
  await userEvent.fill(field(), 'cpu:>5')
  await expect.element(field()).not.toHaveAttribute('aria-invalid')
})

test('Escape closes what is offered first', async () => {
  const props = show()
  await userEvent.type(field(), 'st')
  await expect.element(page.getByRole('option', { name: 'status:' })).toBeInTheDocument()
  await userEvent.keyboard('{Escape}')
  await expect.element(page.getByRole('option')).not.toBeInTheDocument()
  expect(query()).toBe('st')
  await userEvent.keyboard('{Escape}')
  expect(props.keys).toContain('Escape')
})
