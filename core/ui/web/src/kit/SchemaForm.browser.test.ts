import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import type { Schema, Values } from './schema'
import SchemaForm from './SchemaForm.svelte'

const hostile = '<img src=x onerror=alert(1)>' + String.fromCharCode(0x202e)
const schema: Schema = {
  $defs: { Target: { type: 'object', properties: { vm: { type: 'integer' } } } },
  type: 'object',
  required: ['name'],
  properties: {
    vm_id: { type: 'integer', description: 'The VM' },
    name: { type: ['string', 'null'], description: hostile, maxLength: 24 },
    keep: { type: 'integer' },
    mode: { enum: ['snapshot', 'stop'], type: 'string' },
    protected: { type: 'boolean' },
    targets: { type: 'array', items: { $ref: '#/$defs/Target' } },
    select: { type: 'object', properties: { tag: { type: 'string' } } },
  },
}

/** form shows the form, which stores the changes. */
async function form(values: Values = {}, more: Record<string, unknown> = {}) {
  const told = vi.fn()
  const view = await render(SchemaForm, {
    schema,
    values,
    onchange: (next: Values) => {
      told(next)
      void view.rerender({ values: next })
    },
    choices: { vm_id: [{ value: '3', text: hostile }] },
    path: ['body', 'params'],
    ...more,
  })
  return told
}

test('each property has its field, what must be there first', async () => {
  const told = await form()
  const labels = [...document.querySelectorAll('.schema > * label, .schema > fieldset > legend')].map((one) => one.textContent)
  expect(labels[0]).toBe('name')
  expect(document.querySelector('img')).toBeNull()
  await page.getByLabelText('name', { exact: true }).fill('nightly')
  await page.getByLabelText('vm id (optional)').selectOptions(hostile)
  await page.getByLabelText('keep (optional)').fill('7')
  await page.getByLabelText('mode (optional)').selectOptions('stop')
  await page.getByLabelText('protected').click()
  await page.getByLabelText('tag (optional)').fill('prod')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByLabelText('vm (optional)').fill('12')
  expect(told.mock.lastCall![0]).toEqual({
    name: 'nightly',
    vm_id: 3,
    keep: 7,
    mode: 'stop',
    protected: true,
    select: { tag: 'prod' },
    targets: [{ vm: 12 }],
  })
  await page.getByRole('button', { name: 'Remove entry 1' }).click()
  expect(told.mock.lastCall![0].targets).toEqual([])
})

test('a fault stands at its field, and what is no number stays as it was typed', async () => {
  const told = await form(
    { keep: 1 },
    { faults: [{ loc: ['body', 'params', 'keep'], msg: 'must be at most 365', type: 'maximum' }] },
  )
  const keep = page.getByLabelText('keep (optional)')
  await expect.element(keep).toHaveAttribute('aria-invalid', 'true')
  await expect.element(page.getByText('must be at most 365')).toBeVisible()
  await keep.fill('a few')
  expect(told.mock.lastCall![0].keep).toBe('a few')
  await keep.fill('')
  expect(told.mock.lastCall![0].keep).toBeUndefined()
  await userEvent.tab()
})
