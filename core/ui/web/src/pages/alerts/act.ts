// Actions on alerts.
import { session } from '../../app/session.svelte'
import { command, run, type Command } from '../../api/client'
import { asProblem, type Problem } from '../../api/problem'
import { takeAlert, type Alert } from '../../live/alerts.svelte'

export const acts = ['acknowledge', 'silence', 'resolve'] as const
export type Act = (typeof acts)[number]

/** Wish is what the user enters. until is the end of a silence, and seconds its duration if there is no end. */
export interface Wish {
  note: string
  seconds: number
  until: string
}

type Answer = Command<Alert>

export function commandOf(act: Act, id: number, { note, seconds, until }: Wish): Answer {
  const path = { alert_id: id }
  const body = note ? { note } : {}
  if (act === 'acknowledge') return command('post', '/api/v1/alerts/{alert_id}/ack', { path, body }) as Answer
  if (act === 'resolve') return command('post', '/api/v1/alerts/{alert_id}/resolve', { path, body }) as Answer
  const length = until ? { until } : { for_s: seconds }
  return command('post', '/api/v1/alerts/{alert_id}/silence', { path, body: { ...length, ...body } }) as Answer
}

/** How many requests are sent at once. */
const atOnce = 4

/**
 * actOn runs the action on each alert and returns the problems. Acknowledging is shown before the service responds, because nothing changes
 * on a hypervisor. If it fails, the old state is shown again.
 */
export async function actOn(act: Act, alerts: Alert[], wish: Wish): Promise<{ alert: Alert; problem: Problem }[]> {
  const wrong: { alert: Alert; problem: Problem }[] = []
  const rest = [...alerts]
  if (act === 'acknowledge') {
    const me = session.me?.user
    const acknowledged = {
      acknowledged_at: new Date().toISOString(),
      acknowledged_by: me ? { id: me.id, email: me.email } : null,
    }
    for (const one of alerts) takeAlert({ ...one, ...acknowledged, ack_note: wish.note })
  }
  const work = async (): Promise<void> => {
    for (let one = rest.shift(); one; one = rest.shift()) {
      try {
        takeAlert(await run(commandOf(act, one.id, wish)))
      } catch (caught) {
        wrong.push({ alert: one, problem: asProblem(caught) })
        if (act === 'acknowledge') takeAlert(one)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return wrong
}
