import { expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import Log from './Log.svelte'

const line = (text: string) => ({ text, note: false, time: '2026-11-26T12:00:00Z' })

test('a hundred thousand lines, the end of which is followed until somebody scrolls up', async () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => line(`line ${i + 1}`))
  const screen = await render(Log, { lines, count: lines.length, label: 'Transcript' })
  const box = page.getByRole('log').element()
  await vi.waitFor(() => expect(box.textContent).toContain('line 100000'))
  expect(box.querySelectorAll('.line').length).toBeLessThan(120)

  // More lines arrive, and the view follows them.
  lines.push(line('line 100001'))
  await screen.rerender({ count: lines.length })
  await vi.waitFor(() => expect(box.textContent).toContain('line 100001'))

  // If the user reads further up, the view stays there and shows how many lines are new.
  box.scrollTop = 1000
  await vi.waitFor(() => expect(box.textContent).toContain('line 55'))
  lines.push(line('line 100002'), line('line 100003'))
  await screen.rerender({ count: lines.length })
  await page.getByRole('button', { name: '2 new lines' }).click()
  await vi.waitFor(() => expect(box.textContent).toContain('line 100003'))
})

test('lines are text, and are found', async () => {
  const lines = [line('<script>alert(1)</script>'), line('\u001b[31mred\u202e'), line('x'.repeat(10_000_000)), line('TASK OK')]
  render(Log, { lines, count: lines.length, label: 'Transcript' })
  const box = page.getByRole('log').element()
  await vi.waitFor(() => expect(box.textContent).toContain('<script>alert(1)</script>'))
  expect(box.querySelector('script')).toBeNull()
  // Of a line with ten million characters, only the readable part is laid out. The downloaded file has all of it.
  expect(box.textContent.length).toBeLessThan(6000)
  expect(box.textContent).toContain('and 9,996,000 characters more')
  await page.getByRole('searchbox').fill('task')
  await vi.waitFor(() => expect(box.querySelectorAll('.line').length).toBe(1))
  await expect.element(page.getByText('1 line found')).toBeInTheDocument()
})
