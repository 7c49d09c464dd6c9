import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import '../app/tokens.css'
import { leading } from './leads'
import { because, type Why } from './why'

const hostile = '<img src=x onerror=alert(1)>\u202e'

function put(markup: string): HTMLElement {
  document.body.innerHTML = `<p>${markup} <button>Other</button></p>`
  return document.querySelector<HTMLElement>('p > *')!
}

/** held renders a disabled control; the returned function enables it. */
function held(control: HTMLElement, why: Why): () => void {
  return because(why)(control) as () => void
}

const box = (): HTMLElement | null => document.querySelector('.why-not')

test('it keeps the focus, does nothing, and says why to who reaches it', async () => {
  const control = put('<button>Delete</button>')
  const act = vi.fn()
  control.addEventListener('click', act)
  const free = held(control, hostile)
  const button = page.getByRole('button', { name: 'Delete' })
  await expect.element(button).toHaveAttribute('aria-disabled', 'true')
  await expect.element(button).toHaveAccessibleDescription(hostile)
  await userEvent.tab()
  expect(document.activeElement).toBe(control)
  await expect.poll(() => box()?.textContent).toBe(hostile)
  await userEvent.keyboard('{Enter}')
  await userEvent.keyboard(' ')
  await button.click({ force: true })
  expect(act).not.toHaveBeenCalled()
  expect(document.querySelector('img')).toBeNull()
  // Escape hides the reason, and closes nothing else.
  const escaped = vi.fn()
  addEventListener('keydown', escaped)
  await userEvent.keyboard('{Escape}')
  expect(box()).toBeNull()
  expect(escaped).not.toHaveBeenCalled()
  removeEventListener('keydown', escaped)
  free()
  expect([control.ariaDisabled, control.getAttribute('aria-description')]).toEqual([null, null])
  control.click()
  expect(act).toHaveBeenCalledOnce()
})

test('a pointer that rests on it is told, and finds the link', async () => {
  const control = put('<button>Start</button>')
  held(control, { text: 'A job is already running for this guest.', link: { path: '/jobs/7', text: 'Show job' } })
  await page.getByRole('button', { name: 'Start' }).hover()
  const link = page.getByRole('link', { name: 'Show job' })
  await expect.element(link).toBeVisible()
  await link.hover()
  await new Promise((go) => setTimeout(go, 400))
  await expect.element(link).toBeVisible()
  expect(new URL((link.element() as HTMLAnchorElement).href).pathname).toMatch(/\/jobs\/7$/)
  const [at, of] = [box()!.getBoundingClientRect(), control.getBoundingClientRect()]
  expect(at.top >= of.bottom || at.bottom <= of.top).toBe(true)
  await page.getByRole('button', { name: 'Other' }).hover()
  await expect.poll(box).toBeNull()
})

test('the next step of the focus goes to the link', async () => {
  const control = put('<button>Move</button>')
  held(control, leading('The host demo has no token for Lifecycle.', { path: '/hosts/1', text: 'Go to tokens' }))
  await userEvent.tab()
  expect(document.activeElement).toBe(control)
  await userEvent.tab()
  expect(document.activeElement?.textContent).toBe('Go to tokens')
  await new Promise((go) => setTimeout(go, 400))
  expect(box()).not.toBeNull()
  await userEvent.tab()
  expect(document.activeElement?.textContent).toBe('Other')
  await expect.poll(box).toBeNull()
})

test('what stands beside it is not said twice', async () => {
  const control = put('<button>Run</button><small>Needs the role admin here.</small>')
  held(control, 'Needs the role admin here.')
  await page.getByRole('button', { name: 'Run' }).hover()
  await new Promise((go) => setTimeout(go, 50))
  expect(box()).toBeNull()
})

test('choices, boxes and fields stay as they are', async () => {
  const select = put('<select><option>a</option><option>b</option></select>') as HTMLSelectElement
  held(select, 'It is fixed.')
  await userEvent.tab()
  await userEvent.keyboard('{ArrowDown}b')
  expect(select.value).toBe('a')
  const tick = put('<input type="checkbox" checked />') as HTMLInputElement
  held(tick, 'It is needed.')
  tick.click()
  await userEvent.tab()
  await userEvent.keyboard(' ')
  expect(tick.checked).toBe(true)
  const field = put('<input value="a" />') as HTMLInputElement
  const free = held(field, 'It is fixed.')
  await userEvent.tab()
  await userEvent.keyboard('bc')
  expect(field.value).toBe('a')
  free()
  await userEvent.keyboard('bc')
  expect(field.value).toMatch(/bc/)
})
