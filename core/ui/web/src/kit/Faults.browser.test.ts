import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-svelte'
import { Problem } from '../api/problem'
import '../app/tokens.css'
import Faults from './Faults.svelte'

const hostile = '<img src=x onerror=alert(1)>' + String.fromCharCode(0x202e)
const fault = (field: string, msg: string) => ({ loc: ['body', ...field.split('.')], msg, type: 'value_error' })

/** form renders a form with fields of these names, and its faults. */
async function form(problem: Problem | undefined, labels: Record<string, string>) {
  const host = document.createElement('form')
  document.body.replaceChildren(host)
  const place = host.appendChild(document.createElement('div'))
  for (const name of Object.keys(labels)) {
    const input = document.createElement('input')
    Object.assign(input, { name, ariaLabel: name })
    host.append(input)
  }
  return render(Faults, { problem, labels }, { baseElement: place })
}

test('each fault is a link to its field, and the first has the focus', async () => {
  const faults = [fault('cores', 'must be at most 128'), fault('disks.scsi0.size_gb', hostile)]
  await form(new Problem({ id: 'invalid', status: 422, faults }), { name: 'Name', cores: 'Cores', 'disks.scsi0': 'Disk' })
  await expect.element(page.getByRole('textbox', { name: 'cores' })).toHaveFocus()
  await page.getByRole('button', { name: /^Disk: / }).click()
  await expect.element(page.getByRole('textbox', { name: 'disks.scsi0' })).toHaveFocus()
  expect(document.querySelector('img')).toBeNull()
})

test('what is at no field is told as it is', async () => {
  const view = await form(new Problem({ id: 'guest_busy', status: 409, detail: 'job 7 works on it' }), { name: 'Name' })
  await expect.element(page.getByRole('alert').getByText('job 7 works on it')).toBeVisible()
  await view.rerender({ problem: undefined })
  await expect.element(page.getByRole('alert')).not.toBeInTheDocument()
})
