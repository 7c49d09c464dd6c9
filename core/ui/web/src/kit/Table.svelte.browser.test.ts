import { createRawSnippet } from 'svelte'
import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import Table from './Table.svelte'

interface Thing {
  id: number
  name: string
}

// Names are treated as text everywhere.
const hostile = '<img src=x onerror=alert(1)>' + String.fromCharCode(0x202e)
const things = new Map(Array.from({ length: 5000 }, (_, i) => [i + 1, { id: i + 1, name: i === 0 ? hostile : `thing-${i + 1}` }]))
const cell = createRawSnippet<[Thing, string]>((row) => ({
  render: () => '<span></span>',
  setup: (span) => {
    $effect(() => {
      span.textContent = row().name
    })
  },
}))
const narrow = createRawSnippet<[Thing]>((row) => ({
  render: () => '<span></span>',
  setup: (span) => {
    $effect(() => {
      span.textContent = row().name
    })
  },
}))

function table(more: Record<string, unknown> = {}) {
  const host = document.createElement('div')
  host.style.cssText = 'display:grid;height:400px'
  document.body.replaceChildren(host)
  const onopen = vi.fn()
  const onsort = vi.fn()
  const onselect = vi.fn()
  const props = {
    label: 'Things',
    columns: [{ key: 'name', title: 'Name', width: '1fr' }],
    ids: [...things.keys()],
    row: (id: number) => things.get(id),
    tick: 0,
    name: (row: Thing) => row.name,
    cell,
    narrow,
    sort: { key: 'name', down: false },
    onsort,
    onopen,
    onselect,
    selected: new Set<number>(),
    ...more,
  }
  render(Table<Thing>, { target: host, props })
  return { onopen, onsort, onselect }
}

test('of five thousand rows only those that can be seen are there', async () => {
  table()
  const grid = page.getByRole('grid')
  await expect.element(grid).toHaveAttribute('aria-rowcount', '5001')
  await vi.waitFor(() => expect(document.querySelectorAll('[role=row]').length).toBeGreaterThan(10))
  expect(document.querySelectorAll('[role=row]').length).toBeLessThan(60)
  grid.element().scrollTop = 100_000
  await vi.waitFor(() => expect(document.body.textContent).toContain('thing-3130'))
  expect(document.querySelectorAll('[role=row]').length).toBeLessThan(60)
})

test('what is shown is text', async () => {
  table()
  await vi.waitFor(() => expect(document.body.textContent).toContain(hostile))
  expect(document.querySelector('img')).toBeNull()
  await expect.element(page.getByRole('checkbox', { name: `Select ${hostile}` })).toBeInTheDocument()
})

test('keys move, open and select, and the row that is active is named', async () => {
  const { onopen, onselect } = table()
  const grid = page.getByRole('grid')
  ;(grid.element() as HTMLElement).focus()
  await userEvent.keyboard('{End}{Enter}')
  expect(onopen).toHaveBeenLastCalledWith(5000)
  await userEvent.keyboard('{Home}{ArrowUp}{Enter}')
  expect(onopen).toHaveBeenLastCalledWith(1)
  await userEvent.keyboard('{Home}')
  await userEvent.keyboard('{ArrowDown}{Enter}')
  expect(onopen).toHaveBeenLastCalledWith(2)
  await userEvent.keyboard('{End}{Enter}')
  expect(onopen).toHaveBeenLastCalledWith(5000)
  const active = grid.element().getAttribute('aria-activedescendant')
  expect(document.getElementById(active ?? '')?.textContent).toContain('thing-5000')
  await userEvent.keyboard('{ }')
  expect(onselect).toHaveBeenLastCalledWith(new Set([5000]))
  await userEvent.keyboard('{Home}{Shift>}{ArrowDown}{/Shift}')
  expect(onselect).toHaveBeenLastCalledWith(new Set([1, 2]))
})

test('the head sorts, and a click on a box opens nothing', async () => {
  const { onopen, onsort, onselect } = table()
  await page.getByRole('button', { name: 'Name' }).click()
  expect(onsort).toHaveBeenCalledWith('name')
  await expect.element(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'ascending')
  await page.getByRole('checkbox', { name: 'Select thing-3', exact: true }).click()
  expect(onselect).toHaveBeenCalledWith(new Set([3]))
  expect(onopen).not.toHaveBeenCalled()
  await page.getByText('thing-4', { exact: true }).click()
  expect(onopen).toHaveBeenCalledWith(4)
})

test('the box in the head selects all rows, also those that are not rendered, and keeps what a filter hides', async () => {
  const { onselect } = table({ ids: [-1, ...[...things.keys()].slice(0, 3000)], selected: new Set([4000]) })
  const box = page.getByRole('checkbox', { name: 'Select all' })
  await expect.element(box).not.toBeChecked()
  await box.click()
  const chosen = onselect.mock.lastCall![0] as Set<number>
  expect(chosen.size).toBe(3001)
  expect(chosen.has(-1)).toBe(false)
  table({ ids: [1, 2], selected: new Set([1, 2, 4000]), onselect })
  await expect.element(box).toBeChecked()
  await box.click()
  expect(onselect).toHaveBeenLastCalledWith(new Set([4000]))
})
