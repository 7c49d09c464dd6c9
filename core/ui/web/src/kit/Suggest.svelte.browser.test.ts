import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import Suggest from './Suggest.svelte'

const hostile = `<img src=x onerror=alert(1)>${String.fromCharCode(0x202e)}`
const options = [
  { value: '+office', note: 'from where administrators come' },
  { value: '+offsite' },
  { value: 'gateway' },
  { value: hostile, note: 'x'.repeat(10_000) },
]

function show(parts: boolean): { value: string } {
  const props = $state({ label: 'Source', value: '', options, parts })
  render(Suggest, {
    label: 'Source',
    options,
    parts,
    get value() {
      return props.value
    },
    set value(next: string) {
      props.value = next
    },
  })
  return props
}

test('what is typed holds, suggested or not', async () => {
  const props = show(false)
  const field = page.getByRole('combobox', { name: 'Source' })
  await field.fill('192.0.2.7')
  await expect.element(page.getByRole('option')).not.toBeInTheDocument()
  await userEvent.keyboard('{Enter}')
  await expect.element(field).toHaveValue('192.0.2.7')
  expect(props.value).toBe('192.0.2.7')
})

test('keys take a suggestion, and after a comma the next part is completed', async () => {
  const props = show(true)
  const field = page.getByRole('combobox', { name: 'Source' })
  await field.fill('off')
  await expect.element(field).toHaveAttribute('aria-expanded', 'true')
  expect(page.getByRole('option').elements()).toHaveLength(2)
  await userEvent.keyboard('{ArrowDown}{Enter}')
  await expect.element(field).toHaveValue('+office')
  await field.fill('+office,gate')
  await userEvent.keyboard('{ArrowDown}{Enter}')
  await expect.element(field).toHaveValue('+office,gateway')
  expect(props.value).toBe('+office,gateway')
  await expect.element(field).toHaveAttribute('aria-expanded', 'false')
})

test('Escape closes the list first, and names of others are text', async () => {
  show(false)
  const field = page.getByRole('combobox', { name: 'Source' })
  await field.fill('<img')
  await expect.element(page.getByRole('option')).toHaveTextContent(`${hostile} ${'x'.repeat(100)}`)
  expect(document.querySelector('img')).toBeNull()
  await userEvent.keyboard('{Escape}')
  await expect.element(page.getByRole('option')).not.toBeInTheDocument()
  await expect.element(field).toHaveValue('<img')
})
