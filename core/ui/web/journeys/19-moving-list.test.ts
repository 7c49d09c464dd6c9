// A list of 5,000 guests that moves ten times a second: what that costs, beside its limits. HOSTLER_SECONDS makes it longer.
import { expect, test } from 'vitest'
import type { CDPSession } from 'playwright-core'
import { browser, service, stage } from './stage'
import { alone, Visitor } from './start'

const number = 5000
const seconds = Number(process.env.HOSTLER_SECONDS ?? 20)

stage({ cluster: { nodes: 8, guests: number } })

/** Stream stands for the service's stream: polls are rare, and this is about what the page does with ten messages a second. */
const stream = `
  const Real = EventSource
  window.EventSource = class extends EventTarget {
    readyState = 1
    constructor(url) {
      super()
      if (!url.includes('events/stream')) return new Real(url)
      const say = (type, data, lastEventId) => this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data), lastEventId }))
      setTimeout(() => say('hello', { version: 'test', resumed: false, poll_interval_s: 30 }, '0'))
      window.move = (ids, ms) => new Promise((done) => {
        let n = 0
        const timer = setInterval(() => {
          const changes = Array.from({ length: 25 }, () => {
            const id = ids[Math.floor(Math.random() * ids.length)]
            n++
            if (n % 50 === 0) return { kind: 'guest', id, set: { status: n % 100 ? 'running' : 'stopped' } }
            return { kind: 'guest', id, set: { cpu: Math.random(), memory_bytes: 1e9 * Math.random(), figures_at: new Date().toISOString() } }
          })
          say('changes', { changes }, String(n))
        }, 100)
        setTimeout(() => { clearInterval(timer); done(n) }, ms)
      })
    }
    close() {}
  }
  window.long = []
  new PerformanceObserver((list) => window.long.push(...list.getEntries().map((one) => one.duration))).observe({ type: 'longtask' })
`

/** measure is what the page has used: seconds of its main thread, MiB of its heap after a collection, elements. */
async function measure(session: CDPSession): Promise<{ cpu: number; heap: number; nodes: number }> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  const named = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? 0
  return { cpu: named('ThreadTime') || named('TaskDuration'), heap: named('JSHeapUsedSize') / 2 ** 20, nodes: named('Nodes') }
}

declare global {
  interface Window {
    move: (ids: number[], ms: number) => Promise<number>
    long: number[]
  }
}

test('ten updates a second on five thousand guests', async () => {
  const visitor = await Visitor.arrive(browser, service.url)
  const { page } = visitor
  await page.addInitScript(stream)
  await visitor.open('/guests?sort=cpu&down=1')
  await visitor.logIn()
  await page.getByRole('grid').getByRole('row').nth(1).waitFor()
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const ids = await page.evaluate(async () => {
    const list = (await (await fetch('/api/v1/guests')).json()) as { id: number }[]
    return list.map((one) => one.id)
  })
  await page.evaluate(([all, ms]) => window.move(all as number[], ms as number), [ids, 3000] as const) // all code has run once
  await page.evaluate(() => (window.long = []))
  const before = await measure(session)
  const began = performance.now()
  await page.evaluate(([all, ms]) => window.move(all as number[], ms as number), [ids, seconds * 1000] as const)
  const took = (performance.now() - began) / 1000
  const after = await measure(session)
  const long = await page.evaluate(() => window.long)
  const cpu = ((after.cpu - before.cpu) / took) * 100
  const grown = after.heap - before.heap
  console.log(
    [
      `${seconds} s of ten updates a second, 25 of ${number} guests each, in the order of what moves:`,
      `  main thread: ${cpu.toFixed(1)} % of a core (limit 5; held at 15 where HOSTLER_SECONDS asks for a measurement)`,
      `  long tasks: ${long.length}, longest ${Math.max(0, ...long).toFixed(0)} ms (limit 50 ms on a quiet machine)`,
      `  heap: ${before.heap.toFixed(1)} MiB, then ${after.heap.toFixed(1)} MiB (limit +5); elements ${before.nodes}, then ${after.nodes}`,
    ].join('\n'),
  )
  if (alone) expect(cpu).toBeLessThan(15) // beside other tests it is their load that one would measure
  expect(grown).toBeLessThan(5)
  expect(after.nodes).toBeLessThan(before.nodes * 1.2 + 200)

  // A hidden tab only merges: when it is looked at again it shows the last state.
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  const hidden = await measure(session)
  await page.evaluate(([all, ms]) => window.move(all as number[], ms as number), [ids, 5000] as const)
  const shown = await measure(session)
  console.log(`  hidden: ${(((shown.cpu - hidden.cpu) / 5) * 100).toFixed(1)} % of a core`)
  await page.evaluate(() => {
    Reflect.deleteProperty(document, 'hidden')
    document.dispatchEvent(new Event('visibilitychange'))
  })

  // Pages one after the other keep nothing of those before.
  const walk = (times: number): Promise<void> =>
    page.evaluate(async (n) => {
      const link = (path: string): HTMLAnchorElement => document.querySelector(`nav a[href="${path}"]`)!
      for (let i = 0; i < n; i++) {
        for (const [path, sign] of [
          ['/jobs', 'main h1'],
          ['/guests', '[role=grid] [role=row]:nth-child(3)'],
        ] as const) {
          link(path).click()
          for (let t = 0; t < 200 && (location.pathname !== path || !document.querySelector(sign)); t++)
            await new Promise((go) => setTimeout(go, 20))
        }
      }
    }, times)
  await walk(5)
  const first = await measure(session)
  await walk(100)
  const end = await measure(session)
  console.log(
    `  200 page changes: heap ${first.heap.toFixed(1)} MiB, then ${end.heap.toFixed(1)} MiB (limit +5); elements ${first.nodes}, then ${end.nodes}`,
  )
  expect(end.heap - first.heap).toBeLessThan(5)
  await visitor.leave()
}, 1_200_000)
