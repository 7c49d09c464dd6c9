import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '..')

/** What a control may wait for without a reason of its own: that its form is complete, or that what was asked for has come. */
const waits = new Set(
  (
    'asked asking bench.busy busy changed changes check chosen cidr enrolling fault full given group handed job.cancel_requested kept ' +
    'left moved name placement packet read ready request requests sending smaller status.refreshing stored taken testing theirs ready.text'
  ).split(' '),
)
/** Where one is out of reach as a whole: what is to be chosen, and what is loading. */
const natively = ['pages/console/Console.svelte', 'pages/hosts/enrol/Address.svelte', 'kit/Steps.svelte']
/** The parts that put a reason at a control themselves. */
const own = ['kit/Menu.svelte', 'kit/Confirm.svelte']

test('a control that cannot be used says why', () => {
  const bare: string[] = []
  for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.svelte') || own.includes(path)) continue
    for (const [whole, aria, expression] of readFileSync(join(src, path), 'utf8').matchAll(
      /(?<=[\s<])(aria-)?disabled(?:=\{((?:[^{}]|\{[^{}]*\})*)\}|(?=[\s/>]))/g,
    )) {
      if (!aria && natively.includes(path)) continue
      // By names: what is text, and what is asked of a list or a text, says nothing of why.
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
