import atStart from 'virtual:words'
import type en from './en.json'
import type { Language } from './languages'
import { spoken } from './spoken.svelte'

/** Key is the name of a text. All texts of the page are in en.json, and in a file beside it for each other language. */
export type Key = keyof typeof en

type Values = Record<string, string | number>

/** Folded are words by what stands before the first dot of their names, and then by what stands behind it. */
type Folded = Record<string, Record<string, string>>

/** Part is how the words of a part of the page are loaded. */
type Part = Record<Language, () => Promise<{ default: Folded }>>

const words: Record<string, string> = {}
const parts: Part[] = []
const coming = new Set<Promise<void>>()

/** take is called by each part of the page that is loaded, for its words: those of the language that is spoken, and no others. */
export function take(part: Part): void {
  parts.push(part)
  const loading = bring(part)
  coming.add(loading)
  const over = (): boolean => coming.delete(loading)
  loading.then(over, over)
}

async function bring(part: Part): Promise<void> {
  for (;;) {
    const { language } = spoken
    const { default: more } = await part[language]()
    if (language !== spoken.language) continue // another one was chosen meanwhile
    learn(more)
    return
  }
}

function learn(more: Folded): void {
  for (const [head, group] of Object.entries(more))
    for (const [tail, text] of Object.entries(group)) words[tail ? `${head}.${tail}` : head] = text
}

/** settled waits until the words of all parts that are loaded are there, and hands on what it is given. */
export async function settled<T>(loaded: T): Promise<T> {
  await Promise.all(coming)
  return loaded
}

let wanted = spoken.language

/** speak loads the words of a language for all parts that are loaded, and shows the page in it: all that is shown stays where it is. */
export async function speak(language: Language): Promise<void> {
  wanted = language
  if (language === spoken.language) return
  const found: { default: Folded }[] = []
  // A part may come while others are waited for.
  while (found.length < parts.length)
    found.push(...(await Promise.all(parts.slice(found.length).map((part) => part[language]()))))
  if (language !== wanted) return
  for (const { default: more } of found) learn(more)
  spoken.language = language
}

take(atStart)

/** closed is a value with an end to what in it turns the direction of writing: else it would turn the words behind it, too. */
function closed(value: string): string {
  if (!/[\u202a-\u202e\u2066-\u2069]/.test(value)) return value
  let open: string[] = [] // what ends each, the innermost last
  for (const one of value) {
    if (/[\u202a\u202b\u202d\u202e]/.test(one)) open.push('\u202c')
    else if (/[\u2066-\u2068]/.test(one)) open.push('\u2069')
    else if (one === '\u202c' && open.at(-1) === one) open.pop()
    else if (one === '\u2069' && open.includes(one)) open = open.slice(0, open.lastIndexOf(one))
  }
  return value + open.reverse().join('')
}

/**
 * t is the text of that name in the language that is spoken, with {names} replaced by values. Values are text: they are never read as
 * markup, and do not turn the words behind them.
 */
export function t(key: Key, values: Values = {}): string {
  void spoken.language
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string, at: number, text: string) => {
    const value = String(values[name] ?? whole)
    return at + whole.length < text.length ? closed(value) : value
  })
}

type Counted = Key extends infer K ? (K extends `${infer Stem}.other` ? Stem : never) : never

/** tn is the text for a number of things: one of the keys NAME.one and NAME.other, with {n}. */
export function tn(key: Counted, n: number, values: Values = {}): string {
  const form = pluralsOf(spoken.language).select(n) === 'one' ? 'one' : 'other'
  return t(`${key}.${form}` as Key, { n: n.toLocaleString(spoken.language), ...values })
}

const plurals = new Map<Language, Intl.PluralRules>()

function pluralsOf(language: Language): Intl.PluralRules {
  const known = plurals.get(language) ?? new Intl.PluralRules(language)
  plurals.set(language, known)
  return known
}

/** has reports whether there is a text of that name. */
export const has = (key: string): key is Key => key in words
