import { expect, test } from 'vitest'
import { knowTokens, may, why } from './may'
import { session, type Me } from './session.svelte'

function logIn(role: Me['role'], roles: [number, Me['roles'][number]['role']][], off: string[] = []): void {
  session.me = {
    role,
    roles: roles.map(([team_id, held]) => ({ team_id, team: `team ${team_id}`, role: held })),
  } as unknown as Me
  session.off = off
}

test('a role in the default team holds everywhere', () => {
  logIn('operator', [[1, 'operator']])
  expect(may('act_on_vm', { team_id: 1 })).toBe(true)
  expect(may('act_on_vm', { team_id: 7 })).toBe(true)
  expect(why('clone_vm', { team_id: 7 })).toBe('Requires the role admin here. An owner can grant it.')
})

test('a role in another team holds on its things alone', () => {
  logIn(null, [
    [7, 'admin'],
    [8, 'viewer'],
  ])
  expect(may('clone_vm', { team_id: 7 })).toBe(true)
  expect(may('clone_vm', { team_id: 8 })).toBe(false)
  expect(may('clone_vm', { team_id: 1 })).toBe(false)
  // Things of the instance are not theirs, things that belong anywhere are.
  expect(may('create_user')).toBe(false)
  expect(may('list_guests')).toBe(true)
  // The team of a thing may be unknown: the service decides.
  expect(may('cancel_job')).toBe(true)
})

test('nobody without a role may do more than look after themselves', () => {
  logIn(null, [])
  expect(may('change_password')).toBe(true)
  expect(may('list_guests')).toBe(false)
})

test('a feature that is off is off for owners too', () => {
  logIn('owner', [[1, 'owner']], ['apps.uninstall'])
  expect(why('uninstall_app', { team_id: 1 })).toBe(
    'The feature apps.uninstall is disabled. An owner can enable it in the settings.',
  )
  expect(may('clone_vm', { team_id: 1 })).toBe(true)
})

test('what a host has no token for cannot be done on it', () => {
  logIn('owner', [[1, 'owner']])
  const monitoring = { id: 3, name: 'demo', capabilities: [{ key: 'monitoring' }] }
  const lacks = 'The host demo has no token for Lifecycle.'
  expect(why('clone_vm', { team_id: 1, host_id: 3 })).toBeUndefined() // nothing is known about it yet
  knowTokens((id) => (id === 3 ? monitoring : undefined))
  expect(why('clone_vm', { team_id: 1, host_id: 3 })).toBe(lacks)
  expect(why('clone_vm', { team_id: 1, host_id: 4 })).toBeUndefined()
  expect(why('apply_network', monitoring)).toBe(lacks)
  expect(
    why('apply_network', { ...monitoring, capabilities: [...monitoring.capabilities, { key: 'lifecycle' }] }),
  ).toBeUndefined()
  // A host whose tokens are not shown lacks none, and a missing role comes first.
  expect(why('apply_network', { ...monitoring, capabilities: [] })).toBeUndefined()
  logIn('viewer', [[1, 'viewer']])
  expect(why('apply_network', monitoring)).toBe('Requires the role admin here. An owner can grant it.')
  knowTokens(() => undefined)
})
