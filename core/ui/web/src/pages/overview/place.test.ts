import { expect, test } from 'vitest'
import { titleOf } from './place'

test('actions and kinds of jobs are written in words', () => {
  expect(titleOf('host.rotate_credentials lab')).toBe('Rotate credentials: host lab')
  expect(titleOf('vm.start web-1 (copy)')).toBe('Start: VM web-1 (copy)')
  expect(titleOf('api_key.create ci')).toBe('Create: API key ci')
  expect(titleOf('auth.login ann@example.com')).toBe('Login: ann@example.com')
  expect(titleOf('auth.preferences')).toBe('Preferences')
  expect(titleOf('setup.complete')).toBe('Complete: setup')
  expect(titleOf('web-1 is down')).toBe('web-1 is down')
})
