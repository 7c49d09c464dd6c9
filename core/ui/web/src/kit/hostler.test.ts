import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { command } from '../api/client'
import { uploadCommand } from '../api/upload'
import { hostler } from './hostler'

const hostile = `'; rm -rf ~ #$(id)\`id\`!!\\"\n\t@<img src=x onerror=alert(1)>%s`

/** read returns the words that a shell makes of the line, and what is piped into the command. */
function read(line: string): string[] {
  const script = `hostler() { for word; do printf '%s\\0' "$word"; done; case "$*" in *--input*) cat; esac; }; ${line}`
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0')
}

test('a shell reads the line as it was meant, whatever is in it', () => {
  const made = command('post', '/api/v1/users', { body: { email: hostile, password: 'seven-yellow-donkeys' } })
  const words = read(hostler(made)!)
  expect(words.slice(0, -1)).toEqual(['api', 'POST', '/api/v1/users', '--input', '-'])
  expect(JSON.parse(words.at(-1)!)).toEqual({ email: hostile, password: '…' })
})

test('a request without a body has none to read', () => {
  const made = command('delete', '/api/v1/vms/{vm_id}', { path: { vm_id: 3 }, query: { plan: true } })
  expect(read(hostler(made)!).slice(0, -1)).toEqual(['api', 'DELETE', '/api/v1/vms/3?plan=true'])
})

test('an upload has no such command', () => {
  const made = uploadCommand({ host_id: 1, storage: 'nas', content: 'iso', node: '', overwrite: false, sha256: '' }, 'a.iso')
  expect(hostler(made)).toBeUndefined()
})
