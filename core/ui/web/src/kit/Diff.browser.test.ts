import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import Diff from './Diff.svelte'

const hostile = '<img src=x onerror=alert(1)>' + String.fromCharCode(0x202e)

test('what was and what becomes, as text; nothing is a dash', async () => {
  render(Diff, {
    label: 'Changes',
    rows: [
      { name: 'poll.interval_s', before: '30', after: '60' },
      { name: hostile, before: undefined, after: hostile },
      { name: 'the same', before: 'a', after: 'a' },
    ],
  })
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await expect.element(page.getByRole('table', { name: 'Changes' })).toBeVisible()
  await expect.element(row('poll.interval_s')).toHaveTextContent('poll.interval_s3060')
  await expect.element(row(hostile)).toHaveTextContent(`${hostile}–${hostile}`)
  expect(document.querySelector('img')).toBeNull()
  expect(document.querySelector('tr.same')?.textContent).toContain('the same')
})
