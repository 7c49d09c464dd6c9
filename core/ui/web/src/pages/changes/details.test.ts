import { expect, test } from 'vitest'
import { detailsCommand, detailsOf } from './details'
import type { Config } from './size'

const config = { digest: 'd', name: 'web', tags: ['a', 'b'], description: 'of Anna' } as Config
const body = (change: Partial<ReturnType<typeof detailsOf>>): unknown => {
  const { request, changed } = detailsCommand(7, config, { ...detailsOf(config), ...change })
  return changed ? request.options.body : undefined
}

test('only what was changed is sent, with the digest of the configuration', () => {
  expect(body({})).toBeUndefined()
  expect(body({ name: ' web ', tags: ' a,b  b ' })).toBeUndefined()
  expect(body({ name: 'web2' })).toEqual({ digest: 'd', name: 'web2' })
  expect(body({ tags: 'c; a' })).toEqual({ digest: 'd', tags: ['c', 'a'] })
  expect(body({ tags: '', description: '' })).toEqual({ digest: 'd', tags: [], description: '' })
})
