import { expect, test } from 'vitest'
import { changed, made, typedOf, veiled, type StorageKey } from './keys'
import { shares, sums, uploadable, used, type Volume } from './place'

const sum = (digit: string): string => digit.repeat(64)

test('a list of checksums is read in both of its forms, and nothing else is', () => {
  const text = `${sum('a')}  debian.iso\r\n${sum('B')} *./folder/other one.iso\nSHA256 (bsd.iso) = ${sum('c')}\nnonsense\n${'d'.repeat(63)}  short.iso\n<b>`
  expect([...sums(text)]).toEqual([
    ['debian.iso', sum('a')],
    ['other one.iso', sum('b')],
    ['bsd.iso', sum('c')],
  ])
})

test('volumes are added up by what they take', () => {
  const volume = (kind: Volume['kind'], size_bytes: number | null, used_bytes: number | null = null): Volume => ({
    volid: 'local:x',
    name: 'x',
    node: 'pve1',
    kind,
    content: 'iso',
    format: 'iso',
    size_bytes,
    used_bytes,
    created_at: null,
    guest_ref: null,
    parent: null,
    notes: '',
    protected: false,
    encrypted: false,
    verified: null,
  })
  const all = [volume('image', 5), volume('disk', 100, 7), volume('disk', null), volume('image', 1)]
  expect(shares(all, ({ kind }) => kind)).toEqual([
    { name: 'disk', count: 2, bytes: 7 },
    { name: 'image', count: 2, bytes: 6 },
  ])
})

test('what no node tells of counts nothing', () => {
  const known = { used_bytes: 3, total_bytes: 10 }
  expect(used([known, { used_bytes: null, total_bytes: null }, { used_bytes: null, total_bytes: 5 }, known])).toEqual({
    used_bytes: 6,
    total_bytes: 20,
  })
  expect(uploadable(['backup', 'images', 'iso', 'rootdir', 'vztmpl'])).toEqual(['iso', 'vztmpl'])
})

const key = (name: string, more: Partial<StorageKey> = {}): StorageKey => ({
  name,
  type: 'string',
  values: null,
  min: null,
  max: null,
  max_length: null,
  required: false,
  fixed: false,
  secret: false,
  ...more,
})
const keys = [
  key('server', { required: true, fixed: true }),
  key('port', { type: 'integer' }),
  key('content', { type: 'list', values: ['iso', 'images'] }),
  key('disable', { type: 'boolean' }),
  key('password', { secret: true }),
]

test('a new definition has what is filled in, each in its type', () => {
  const config = made(keys, { server: ' nas ', port: '8007', content: 'iso,images', disable: 'true', password: 'secret' })
  expect(config).toEqual({ server: ' nas ', port: 8007, content: ['iso', 'images'], disable: true, password: 'secret' })
  expect(veiled(keys, config)).toMatchObject({ server: ' nas ', password: '…' })
  // The service reports what is wrong with it.
  expect(made(keys, { port: 'many' })).toEqual({ port: 'many' })
})

test('a change has what differs, and clears what was emptied', () => {
  const before = typedOf(keys, { server: 'nas', port: '8007', content: 'images,iso', disable: '1' })
  expect(before).toEqual({ server: 'nas', port: '8007', content: 'images,iso', disable: 'true', password: '' })
  expect(changed(keys, before, { ...before, content: 'iso,images' })).toEqual({})
  expect(changed(keys, before, { ...before, server: 'other', port: '', disable: '' })).toEqual({ port: null, disable: false })
  expect(changed(keys, before, { ...before, content: '', password: 'new' })).toEqual({ content: null, password: 'new' })
})
