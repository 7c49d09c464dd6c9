import { expect, test } from 'vitest'
import { curl } from '../../kit/curl'
import { isWhole, receiverOf, setCommand, type State } from './receiver'

const state = {
  url: 'https://metrics.example.com/write',
  tls_fingerprint: null,
  auth: 'bearer',
  username: null,
} as State

test('a secret is typed anew with each change, and shown in no command', () => {
  const found = receiverOf(state)
  expect([found.bearer_token, isWhole(found), isWhole({ ...found, auth: 'none' })]).toEqual(['', false, true])
  const typed = { ...found, bearer_token: 'hush-hush' }
  expect(isWhole(typed)).toBe(true)
  expect(setCommand(typed).options.body).toEqual({ url: state.url, bearer_token: 'hush-hush' })
  const basic = { ...typed, auth: 'basic' as const, username: ' ann ', password: 'pass-hush', tls_fingerprint: ' AB:CD ' }
  expect(setCommand(basic).options.body).toEqual({
    url: state.url,
    tls_fingerprint: 'AB:CD',
    username: 'ann',
    password: 'pass-hush',
  })
  for (const one of [typed, basic]) expect(curl(setCommand(one), 'https://a')).not.toContain('hush')
})

test('where nothing is sent, there is nothing to begin with', () => {
  const none = receiverOf({ ...state, url: null, auth: 'none' })
  expect(isWhole(none)).toBe(false)
  expect(setCommand({ ...none, url: ' http://a/write ', username: 'left over' }).options.body).toEqual({ url: 'http://a/write' })
})
