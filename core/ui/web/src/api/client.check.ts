// Code that must not compile. Nothing runs this file: make ui checks it.
import { api, command, run } from './client'

export async function mistakes(): Promise<void> {
  // @ts-expect-error this path does not exist
  await api.get('/api/v1/vm')
  // @ts-expect-error this path does not have this method
  await api.delete('/api/v1/auth/me')
  // @ts-expect-error the id of the VM is missing
  await api.get('/api/v1/vms/{vm_id}')
  // @ts-expect-error unknown action
  await api.post('/api/v1/vms/{vm_id}/{action}', { path: { vm_id: 1, action: 'explode' } })
  // @ts-expect-error the password is missing
  await api.post('/api/v1/auth/login', { body: { email: 'anna@example.com' } })
  // @ts-expect-error unknown status
  await api.get('/api/v1/jobs', { query: { status: 'done' } })
  const me = await api.get('/api/v1/auth/me')
  // @ts-expect-error unknown field
  void me.user.mail
  // @ts-expect-error the id of the VM is missing
  command('post', '/api/v1/vms/{vm_id}/{action}', { path: { action: 'start' } })
  const started = await run(command('post', '/api/v1/vms/{vm_id}/{action}', { path: { vm_id: 1, action: 'start' } }))
  // @ts-expect-error unknown field
  void started.task
  // Code that compiles.
  void me.user.email
  await api.post('/api/v1/auth/logout')
}
