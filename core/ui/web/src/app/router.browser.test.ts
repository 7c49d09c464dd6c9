import { expect, test } from 'vitest'
import { address } from '../api/client'
import { match } from './router.svelte'
import { routes } from './routes'

test('a path has one route, with what its parameters hold', () => {
  expect(match('/guests').route?.path).toBe('/guests')
  expect(match('/guests/').route?.path).toBe('/guests')
  expect(match('/guests/12')).toMatchObject({ route: { path: '/guests/:id' }, params: { id: '12' } })
  expect(match('/guests/a%2Fb').params).toEqual({ id: 'a/b' })
  for (const path of ['/guests/12/x/y', '/guests/%zz', '/nothing', '//', '/GUESTS'])
    expect(match(path).route, path).toBeUndefined()
})

test('every path of the table is reached by itself, and no two keys of the menu are the same', () => {
  for (const { path } of routes) expect(match(path.replaceAll(/:\w+/g, '1')).route?.path).toBe(path)
  const keys = routes.flatMap((route) => route.menu?.key ?? [])
  expect(new Set(keys).size).toBe(keys.length)
})

test('values of an address are its parts and never more', () => {
  const path = { host_id: 1, volid: '../../auth/logout?x=1#y' }
  expect(address('/api/v1/storage/{host_id}/{volid}', { path })).toBe('/api/v1/storage/1/..%2F..%2Fauth%2Flogout%3Fx%3D1%23y')
  for (const name of ['.', '..', '']) {
    expect(() => address('/api/v1/hosts/{host_id}/nodes/{node}/status', { path: { host_id: 1, node: name } })).toThrow()
  }
  expect(address('/api/v1/jobs', { query: { q: 'a&b=c', page: 1, none: undefined, many: ['x', 'y'] } })).toBe(
    '/api/v1/jobs?q=a%26b%3Dc&page=1&many=x&many=y',
  )
})
