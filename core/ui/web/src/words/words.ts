import atStart from 'virtual:words'
import type en from './en.json'
import type { Language } from './languages'
import { spoken } from './spoken.svelte'

/** Key is the name of a text. en.json contains all texts of the page; other languages have a file next to it. */
export type Key = keyof typeof en

type Values = Record<string, string | number>

/** Folded are texts by the part of their keys before the first dot, and then by the rest. */
type Folded = Record<string, Record<string, string>>

/** Part loads the texts of one part of the page. */
type Part = Record<Language, () => Promise<{ default: Folded }>>

const words: Record<string, string> = {}
const parts: Part[] = []
const coming = new Set<Promise<void>>()

/** take is called by each part of the page when it loads. It loads the part's texts in the current language only. */
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
    if (language !== spoken.language) continue // another language was chosen in the meantime
    learn(more)
    return
  }
}

function learn(more: Folded): void {
  for (const [head, group] of Object.entries(more))
    for (const [tail, text] of Object.entries(group)) words[tail ? `${head}.${tail}` : head] = text
}

/** settled waits until the texts of all loaded parts are there, and passes its argument on. */
export async function settled<T>(loaded: T): Promise<T> {
  await Promise.all(coming)
  return loaded
}

let wanted = spoken.language

/** speak loads the texts of a language for all loaded parts, and shows the page in it. Everything on the page stays in place. */
export async function speak(language: Language): Promise<void> {
  wanted = language
  if (language === spoken.language) return
  const found: { default: Folded }[] = []
  // A part may be loaded while others are awaited.
  while (found.length < parts.length)
    found.push(...(await Promise.all(parts.slice(found.length).map((part) => part[language]()))))
  if (language !== wanted) return
  for (const { default: more } of found) learn(more)
  spoken.language = language
}

take(atStart)

/** closed returns a value in which every change of text direction is ended. Otherwise it would affect the text after it. */
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
 * t returns the text with that key in the current language, with {names} replaced by values. Values are text: they are never interpreted as
 * markup, and do not change the direction of the text after them.
 */
export function t(key: Key, values: Values = {}): string {
  void spoken.language
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string, at: number, text: string) => {
    const value = String(values[name] ?? whole)
    return at + whole.length < text.length ? closed(value) : value
  })
}

type Counted = Key extends infer K ? (K extends `${infer Stem}.other` ? Stem : never) : never

/** tn returns the text for a number of objects: one of the keys NAME.one and NAME.other, with {n}. */
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

/** has reports whether a text with that key exists. */
export const has = (key: string): key is Key => key in words
