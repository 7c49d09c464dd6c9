import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '..')

/** What a control may wait for without a reason: a complete form, or a response. */
const waits = new Set(
  (
    'asked asking bench.busy busy changed changes check chosen cidr enrolling fault full given group handed job.cancel_requested kept ' +
    'left moved name placement packet read ready request requests sending smaller status.refreshing stored taken testing theirs ready.text'
  ).split(' '),
)
/** Cases in which a control is unavailable as a whole: choices, and data that loads. */
const natively = ['pages/console/Console.svelte', 'pages/hosts/enrol/Address.svelte', 'kit/Steps.svelte']
/** Components that attach a reason to a control themselves. */
const own = ['kit/Menu.svelte', 'kit/Confirm.svelte']

test('a control that cannot be used says why', () => {
  const bare: string[] = []
  for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.svelte') || own.includes(path)) continue
    for (const [whole, aria, expression] of readFileSync(join(src, path), 'utf8').matchAll(
      /(?<=[\s<])(aria-)?disabled(?:=\{((?:[^{}]|\{[^{}]*\})*)\}|(?=[\s/>]))/g,
    )) {
      if (!aria && natively.includes(path)) continue
      // By name: texts, and conditions about lists and texts, do not explain anything.
      const names = (expression ?? '').replaceAll(/'[^']*'|\)\.\w+/g, '').match(/[a-zA-Z_][\w.?]*/g) ?? ['']
      const others = names
        .map((name) => name.replaceAll('?', '').replace(/\.(length|trim)$/, ''))
        .filter((name) => name !== 'undefined' && !waits.has(name))
      if (!aria || others.length) bare.push(`${path}: ${whole}`)
    }
  }
  // kit/why.ts: {@attach because(reason)}
  expect(bare).toEqual([])
})
