import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import Combobox from './Combobox.svelte'

const bidi = String.fromCharCode(0x202e)
const hostile = `<img src=x onerror=alert(1)>${bidi}`
const options = [
  { value: '1', text: 'default' },
  { value: '2', text: 'night watch', note: 'the second floor' },
  { value: '3', text: hostile },
  ...Array.from({ length: 300 }, (_, i) => ({ value: String(10 + i), text: `team ${i}` })),
]

test('one types a part, goes by keys and takes one', async () => {
  const props = show('2')
  const field = page.getByRole('combobox', { name: 'Team' })
  await expect.element(field).toHaveValue('night watch')
  await field.click()
  await expect.element(field).toHaveAttribute('aria-expanded', 'true')
  await field.fill('floor')
  await expect.element(page.getByRole('option')).toHaveTextContent('night watch the second floor')
  await field.fill('team 29')
  await userEvent.keyboard('{ArrowDown}{Enter}')
  await expect.element(field).toHaveValue('team 290')
  await expect.element(field).toHaveAttribute('aria-expanded', 'false')
  expect(props.value).toBe('300')
})

test('what is typed and not taken changes nothing', async () => {
  const props = show('1')
  const field = page.getByRole('combobox', { name: 'Team' })
  await field.fill('nobody is called so')
  await expect.element(page.getByRole('option')).not.toBeInTheDocument()
  await userEvent.keyboard('{Enter}')
  await expect.element(field).toHaveValue('default')
  await field.fill('night')
  await userEvent.keyboard('{Escape}')
  await expect.element(field).toHaveValue('default')
  expect(props.value).toBe('1')
})

test('a name is text, whatever is in it', async () => {
  show('3')
  await page.getByRole('combobox', { name: 'Team' }).click()
  expect(document.querySelector('img')).toBeNull()
  await expect.element(page.getByRole('option', { selected: true })).toHaveTextContent(hostile)
})

/** show renders it, and stores the choice. */
function show(value: string): { value: string } {
  const kept = $state({ value })
  render(Combobox, {
    label: 'Team',
    options,
    get value() {
      return kept.value
    },
    set value(next: string) {
      kept.value = next
    },
  })
  return kept
}
