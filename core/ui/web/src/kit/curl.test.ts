import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { command, type Command } from '../api/client'
import { uploadCommand } from '../api/upload'
import { curl } from './curl'

/** Characters that a shell interprets anywhere but in single quotes, and those that hide text or change its direction. */
const hostile = `'; rm -rf ~ #$(id)\`id\`!!\\"\n\t@\u0000${String.fromCharCode(0x202e, 0x85, 0xd800)}<img src=x onerror=alert(1)>`

/** words returns the words that a shell makes of the line. */
function words(line: string): string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }; HOSTLER_KEY=key; ${line}`
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
}

test('a shell reads the line as it was meant, whatever is in it', () => {
  const made = command('post', '/api/v1/users', { body: { email: hostile, password: 'seven-yellow-donkeys' } })
  const line = curl(made, 'https://hostler.example')
  expect(line).not.toMatch(/[^ -~…]/)
  const read = words(line)
  expect(read.slice(0, -1)).toEqual([
    ...['-sS', '-g', '-X', 'POST', 'https://hostler.example/api/v1/users', '-H', 'Authorization: Bearer key'],
    ...['-H', 'Content-Type: application/json', '--data-raw'],
  ])
  // The password must not appear.
  expect(JSON.parse(read.at(-1)!)).toEqual({ email: hostile, password: '…' })
})

test('what is secret has no secret name of its own', () => {
  const secrets = { url: 'https://hooks.example.com/T0KEN', user: 'u5er', token: null }
  const line = curl(
    command('patch', '/api/v1/notification-channels/{channel_id}', { path: { channel_id: 3 }, body: { secrets } }),
    'https://h',
  )
  expect(JSON.parse(words(line).at(-1)!)).toEqual({ secrets: { url: '…', user: '…', token: null } })
})

test('a form has its fields and its file, whatever they are called', () => {
  const made = uploadCommand(
    { host_id: 1, storage: 'nas', content: '@/etc/passwd', node: '', overwrite: true, sha256: '' },
    `a";type=x,b\\'; rm ~.iso`,
  )
  const read = words(curl(made, 'https://hostler.example'))
  expect(read.slice(-8)).toEqual([
    ...['-H', 'Authorization: Bearer key', '--form-string', 'content=@/etc/passwd', '--form-string', 'overwrite=true'],
    ...['-F', `file=@"a\\";type=x,b\\\\'; rm ~.iso"`],
  ])
})

test('values of paths, queries and headers stay in their places', () => {
  const made: Command = {
    method: 'get',
    path: '/api/v1/vms/{vm_id}',
    options: { path: { vm_id: `../'{a}?b#c` }, query: { q: [`{1..9} &'`, '$(id)'] }, headers: { 'Idempotency-Key': "it's" } },
  }
  const read = words(curl(made, 'https://hostler.example'))
  expect(read).toEqual([
    ...['-sS', '-g', `https://hostler.example/api/v1/vms/..%2F'%7Ba%7D%3Fb%23c?q=%7B1..9%7D+%26%27&q=%24%28id%29`],
    ...['-H', 'Authorization: Bearer key', '-H', "Idempotency-Key: it's"],
  ])
})
