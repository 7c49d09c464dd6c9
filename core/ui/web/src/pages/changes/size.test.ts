import { expect, test } from 'vitest'
import type { Guest } from '../../live/guests.svelte'
import { changed, resizeCommand, sizesOf, type Config } from './size'

const vm = { id: 3, kind: 'vm', app_id: null, template: false } as unknown as Guest
const app = { id: 9, kind: 'container', app_id: 4, template: false } as unknown as Guest
const config = {
  digest: 'd1',
  cores: 2,
  sockets: 1,
  memory_mb: 2048,
  balloon_mb: null,
  swap_mb: 512,
  disks: [
    { key: 'scsi0', size_gb: 32, removable: false, local: false, unused: false, pending: false },
    { key: 'ide2', size_gb: null, removable: true, local: false, unused: false, pending: false },
    { key: 'mp0', size_gb: 8, removable: false, local: true, unused: false, pending: false },
    { key: 'unused0', size_gb: 8, removable: false, local: false, unused: true, pending: false },
    { key: 'scsi1', size_gb: 8, removable: false, local: false, unused: false, pending: true },
  ],
} as unknown as Config

test('a VM and an app have their own fields, and disks that can grow', () => {
  expect(sizesOf(vm, config)).toEqual({ cores: '2', sockets: '1', memory_mb: '2048', balloon_mb: '', 'disks.scsi0': '32' })
  expect(Object.keys(sizesOf(app, config))).toEqual(['cores', 'memory_mb', 'swap_mb', 'disks.scsi0'])
  expect(sizesOf({ ...vm, template: true }, config)).not.toHaveProperty('disks.scsi0')
})

test('only what has changed is sent, with the digest', () => {
  const before = sizesOf(vm, config)
  expect(changed(before, { ...before })).toEqual([])
  expect(changed(before, { ...before, cores: '' })).toEqual([])
  const now = { ...before, cores: '4', 'disks.scsi0': '64' }
  expect(resizeCommand(vm, 'd1', before, now)).toMatchObject({
    path: '/api/v1/vms/{vm_id}',
    options: { path: { vm_id: 3 }, body: { digest: 'd1', cores: 4, disks: { scsi0: { size_gb: 64 } } } },
  })
  // Invalid numbers stay as typed, so that the service refuses them.
  expect(resizeCommand(app, null, before, { ...before, memory_mb: 'lots' }).options.body).toEqual({ memory_mb: 'lots' })
})
