// The power actions of a guest, and why they are not possible now.
import { why } from '../../app/may'
import { api, command, run } from '../../api/client'
import type { components } from '../../api/schema'
import type { Guest } from '../../live/guests.svelte'
import { t } from '../../words/words'
import { announce } from '../jobs/announce'

export const actions = ['start', 'shutdown', 'restart', 'stop', 'pause', 'resume', 'reset'] as const
export type Action = (typeof actions)[number]

const ofApp = ['start', 'stop', 'shutdown', 'restart'] as const
type AppAction = (typeof ofApp)[number]
const isOfApp = (action: Action): action is AppAction => (ofApp as readonly string[]).includes(action)

/** Actions that cut the power at once, without asking the guest. */
const hard = new Set<Action>(['stop', 'reset'])
export const isHard = (action: Action): boolean => hard.has(action)

/** The states in which an action makes sense. An unknown state excludes nothing: the hypervisor decides. */
const from: Record<Action, Guest['status'][]> = {
  start: ['stopped'],
  shutdown: ['running'],
  restart: ['running'],
  stop: ['running', 'paused', 'suspended'],
  pause: ['running'],
  resume: ['paused', 'suspended'],
  reset: ['running', 'paused'],
}

/** actionsOf returns the actions of a guest. */
export const actionsOf = (guest: Guest): Action[] => actions.filter((action) => guest.kind === 'vm' || isOfApp(action))

/** whyNot returns why an action is not possible now; undefined if it is. */
export function whyNot(guest: Guest, action: Action): string | undefined {
  if (guest.template) return t('power.template')
  if (guest.kind === 'container' && guest.app_id === null) return t('power.container')
  const refused = why(guest.kind === 'vm' ? 'act_on_vm' : 'act_on_app', guest)
  if (refused) return refused
  if (guest.job_id !== null) return t('power.busy')
  if (guest.status !== 'unknown' && !from[action].includes(guest.status))
    return t('power.state', { status: t(`status.${guest.status}`) })
  return undefined
}

/** confirms reports whether the operation requires a typed name: if it would interrupt the service itself. */
export const confirms = (guest: Guest, action: Action): boolean => guest.is_self && action !== 'start' && action !== 'resume'

type Plan = components['schemas']['Plan']

/** planOf requests the plan. Nothing is done. */
export async function planOf(guest: Guest, action: Action): Promise<Plan | undefined> {
  const answer =
    guest.app_id !== null && isOfApp(action)
      ? await api.post('/api/v1/apps/{app_id}/{action}', { path: { app_id: guest.app_id, action }, query: { plan: true } })
      : await api.post('/api/v1/vms/{vm_id}/{action}', { path: { vm_id: guest.id, action }, query: { plan: true } })
  return 'effects' in answer ? answer : undefined
}

/** commandOf returns the request for the action, with the phrase if it must be typed. */
export function commandOf(guest: Guest, action: Action, confirm = '', headers: Record<string, string> = {}) {
  const body = confirm ? { confirm } : null
  return guest.app_id !== null && isOfApp(action)
    ? command('post', '/api/v1/apps/{app_id}/{action}', { path: { app_id: guest.app_id, action }, body, headers })
    : command('post', '/api/v1/vms/{vm_id}/{action}', { path: { vm_id: guest.id, action }, body, headers })
}

/** act sends the request once: the key lets the service recognize a repeated request. The feed reports the rest. */
export async function act(guest: Guest, action: Action, confirm = ''): Promise<void> {
  const answer = await run(commandOf(guest, action, confirm, { 'Idempotency-Key': key() }))
  if (!('job' in answer)) return
  announce(answer.job, t('power.confirm', { action: t(`power.${action}`), name: guest.name }))
}

/** key identifies a request. A page over plain HTTP has no randomUUID. */
export const key = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
