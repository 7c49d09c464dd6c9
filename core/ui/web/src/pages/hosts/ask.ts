// Requests to a host that run at once, from its page, its list and the palette.
import { why } from '../../app/may'
import { command, run } from '../../api/client'
import { asProblem } from '../../api/problem'
import { say } from '../../kit/toasts.svelte'
import { loadHosts, takeHost, type Host } from '../../live/hosts.svelte'
import { t } from '../../words/words'

export const asks = ['test', 'sync'] as const
export type Ask = (typeof asks)[number]

/** whyNot returns why the host cannot be asked; undefined if it can. */
export const whyNot = (host: Host, ask: Ask): string | undefined => why(ask === 'test' ? 'test_host' : 'sync_host', host)

export const testOf = (host: Host) => command('post', '/api/v1/hosts/{host_id}/test', { path: { host_id: host.id } })
export const syncOf = (host: Host) => command('post', '/api/v1/hosts/{host_id}/sync', { path: { host_id: host.id } })

/** ask sends the request and shows the result. */
export async function ask(host: Host, what: Ask): Promise<void> {
  const values = { name: host.name }
  try {
    if (what === 'test') {
      const found = await run(testOf(host))
      const wrong = found.capabilities.some((one) => !one.ok)
      const link = { path: `/hosts/${host.id}`, text: t('hosts.show') }
      if (!found.reachable) say(t('host.test.bad', { ...values, why: found.error ?? '' }), { bad: true, link })
      else if (wrong) say(t('host.test.lacks', values), { bad: true, link })
      else say(t('host.test.good', { ...values, ms: Math.max(1, found.latency_ms ?? 1) }))
      await loadHosts()
    } else {
      takeHost(await run(syncOf(host)))
      say(t('host.synced', values))
    }
  } catch (caught) {
    const problem = asProblem(caught)
    say(`${problem.sentence} ${problem.detail}`, { bad: true })
  }
}
