import { expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import { preferences } from '../app/preferences.svelte'
import Chart from './Chart.svelte'

const begin = Date.parse('2026-03-01T10:00:00Z') / 1000
const hostile = '<img src=x onerror=alert(1)>\u202e'
const props = {
  title: hostile,
  times: Array.from({ length: 240 }, (_, i) => begin + i * 15),
  lines: [
    { label: hostile, values: Array.from({ length: 240 }, (_, i) => (i === 100 ? null : i / 240)) },
    { label: 'nothing', values: Array.from({ length: 240 }, () => null) },
  ],
  marks: [
    { at: begin + 600, until: begin + 1200, alert: true, text: hostile },
    { at: begin + 2000, until: null, alert: false, text: 'vm.start' },
  ],
  write: (value: number | null | undefined): string => (value == null ? '–' : value.toFixed(2)),
}

/** colours returns how many pixels of the image have each colour, the most frequent first. */
function colours(): Map<string, number> {
  const canvas = document.querySelector('canvas')!
  const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
  const all = new Map<string, number>()
  for (let i = 0; i < data.length; i += 4) {
    if (!data[i + 3]) continue
    const colour = `${data[i]},${data[i + 1]},${data[i + 2]}`
    all.set(colour, (all.get(colour) ?? 0) + 1)
  }
  return all
}

test('lines are drawn in the colours of the theme, and said in words', async () => {
  preferences.theme = 'light'
  document.documentElement.dataset.theme = 'light'
  render(Chart, { ...props, table: false })
  const picture = page.getByRole('img')
  await expect.element(picture).toHaveAttribute('aria-label', expect.stringContaining('last 1.00, between 0.00 and 1.00.'))
  await vi.waitFor(() => expect(colours().get('36,87,197')).toBeGreaterThan(20)) // --accent
  // An alert is a band, and its beginning is a line.
  expect(colours().has('179,38,30')).toBe(true) // --bad
  document.documentElement.dataset.theme = 'dark'
  preferences.theme = 'dark'
  await vi.waitFor(() => expect(colours().get('141,176,255')).toBeGreaterThan(20))
  expect(colours().get('36,87,197')).toBeUndefined()
  expect(document.querySelector('img')).toBeNull()
})

test('the same as a table: the newest first, few enough to be read', async () => {
  render(Chart, { ...props, table: true })
  await expect.element(page.getByRole('columnheader', { name: 'nothing' })).toBeInTheDocument()
  const rows = [...document.querySelectorAll('tbody tr')].map((row) => row.textContent)
  expect(rows).toHaveLength(60)
  expect(rows[0]).toContain('1.00')
  expect(rows.at(-1)).toContain('0.01')
  expect(document.body.textContent).toContain(hostile)
  expect(document.querySelector('img')).toBeNull()
  await expect.element(page.getByRole('group')).toHaveAttribute('tabindex', '0')
})
