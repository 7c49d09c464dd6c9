import { expect, test } from 'vitest'
import { render } from 'vitest-browser-svelte'
import '../app/tokens.css'
import Patch from './Patch.svelte'

test('lines are what they are by their place, and long texts come in parts', async () => {
  const text = ['--- a/ct.sh', '+++ b/ct.sh', '@@ -1,2 +1,2 @@', ' echo', '--- gone', '+<b>bold</b>'].join('\n') + '\n'
  const screen = await render(Patch, { text: text + '+more\n'.repeat(1000), label: 'ct.sh' })
  const box = screen.getByRole('group', { name: 'ct.sh' }).element()
  const names = ['name', 'place', 'comes', 'goes']
  const kinds = [...box.querySelectorAll('div')].slice(0, 6).map((line) => names.find((name) => line.classList.contains(name)))
  expect(kinds).toEqual(['name', 'name', 'place', undefined, 'goes', 'comes'])
  expect(box.querySelector('b')).toBeNull()
  expect(box.textContent).toContain('<b>bold</b>')
  expect(box.querySelectorAll('div')).toHaveLength(400)
  await screen.getByRole('button').click()
  expect(box.querySelectorAll('div')).toHaveLength(1006)
})
