import { expect, test } from 'vitest'
import { byClaim, type Election } from './leader'

let names = 0
/** tabs creates tabs that take part in one election, and the numbers of those that lead. */
function tabs(count: number): { leaders: Set<number>; all: (Election & { close: () => void })[] } {
  const name = `leader.test.${names++}`
  const leaders = new Set<number>()
  const all = Array.from({ length: count }, (_, i) => {
    const channel = new BroadcastChannel(name)
    const told = { lead: () => void leaders.add(i), follow: () => void leaders.delete(i) }
    return { ...byClaim(channel, told), close: () => channel.close() }
  })
  return { leaders, all }
}

test('without locks one of many tabs leads', async () => {
  const { leaders } = tabs(6)
  await expect.poll(() => leaders.size).toBe(1)
  // Check again after all of them have answered.
  await new Promise((go) => setTimeout(go, 600))
  await expect.poll(() => leaders.size).toBe(1)
})

test('the lead is taken from a tab that does not answer', async () => {
  const { leaders, all } = tabs(3)
  await expect.poll(() => leaders.size).toBe(1)
  await new Promise((go) => setTimeout(go, 600))
  await expect.poll(() => leaders.size).toBe(1)
  const [first] = leaders
  all[first!]!.close() // like a frozen tab: it says nothing, and does not know
  const next = all.findIndex((_, i) => i !== first)
  all[next]!.challenge()
  await expect.poll(() => leaders).toContain(next)
})
