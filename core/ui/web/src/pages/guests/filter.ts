// The filter of the list of guests: words, and fields such as tag:prod status:running node:pve1 cpu:>80 is:app. All must fit; a hyphen
// before one turns it round, and quotation marks keep blanks together.
import type { Guest } from '../../live/guests.svelte'

type Test = (guest: Guest) => boolean

const GiB = 2 ** 30

/** What the fields with numbers compare: percents of the whole, and sizes in GiB. */
const numbers: Record<string, (guest: Guest) => number | null> = {
  cpu: (g) => (g.cpu === null ? null : g.cpu * 100),
  memory: (g) => (g.memory_bytes === null || !g.memory_total_bytes ? null : (g.memory_bytes / g.memory_total_bytes) * 100),
  size: (g) => (g.memory_total_bytes === null ? null : g.memory_total_bytes / GiB),
  vmid: (g) => g.vmid,
}

/** What the fields with words hold; the whole value must fit, and * in it stands for anything. */
const words: Record<string, (guest: Guest) => string[]> = {
  name: (g) => [g.name, g.app ?? ''],
  status: (g) => [g.status],
  tag: (g) => g.tags,
  host: (g) => [g.host],
  node: (g) => [g.node],
  cluster: (g) => [g.cluster],
  team: (g) => [g.team],
  pool: (g) => [g.pool],
  lock: (g) => [g.lock],
  ip: (g) => g.addresses ?? [],
  is: (g) => [g.kind, ...(g.app_id === null ? [] : ['app']), ...(g.template ? ['template'] : []), ...(g.is_self ? ['self'] : [])],
}

/** The names of all fields, to be told. */
export const fields = [...Object.keys(words), ...Object.keys(numbers)]

/** fits reports whether the whole text is that of the pattern, in any case. No regular expression: many stars would make one slow. */
function fits(text: string, pattern: string[]): boolean {
  const first = pattern[0]!
  const last = pattern.at(-1)!
  if (pattern.length === 1) return text === first
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  for (const part of pattern.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}

function one(term: string): Test {
  const [, named = '', quoted] = /^([a-z]+):(.*)$/is.exec(term) ?? []
  const field = named.toLowerCase()
  const value = (quoted ?? term).replaceAll('"', '')
  const number = Object.hasOwn(numbers, field) ? numbers[field] : undefined
  if (number && value) {
    const [, sign = '=', figure = ''] = /^(>=|<=|>|<|=)?(.+)$/.exec(value) ?? []
    const limit = Number(figure)
    return (guest) => {
      const has = number(guest)
      if (has === null || Number.isNaN(limit)) return false
      return { '>': has > limit, '<': has < limit, '>=': has >= limit, '<=': has <= limit, '=': has === limit }[sign] ?? false
    }
  }
  const word = Object.hasOwn(words, field) ? words[field] : undefined
  // While a value is being typed nothing is excluded.
  if ((word || number) && !value) return () => true
  if (word) {
    const pattern = value.toLowerCase().split('*')
    return (guest) => word(guest).some((has) => fits(has.toLowerCase(), pattern))
  }
  const text = term.replaceAll('"', '').toLowerCase()
  return (g) =>
    [g.name, g.app ?? '', g.node, g.host, g.cluster, g.guest_ref, ...g.tags, ...(g.addresses ?? [])].some((has) =>
      has.toLowerCase().includes(text),
    )
}

/** filter makes a test of what was typed. It never fails: what is no field is a word. */
export function filter(query: string): Test {
  const terms = query.match(/-?(?:[^\s"]|"[^"]*"?)+/g) ?? []
  const tests = terms.map((term): Test => {
    if (!term.startsWith('-') || term === '-') return one(term)
    const test = one(term.slice(1))
    return (guest) => !test(guest)
  })
  return (guest) => tests.every((test) => test(guest))
}
