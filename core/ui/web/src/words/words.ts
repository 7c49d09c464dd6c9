import en from './en.json'

/** Key is the name of a text. All texts of the page are in en.json. */
export type Key = keyof typeof en

type Values = Record<string, string | number>

const words: Record<string, string> = en
const plurals = new Intl.PluralRules('en')

/** t is the text of that name, with {names} replaced by values. Values are text: they are never read as markup. */
export function t(key: Key, values: Values = {}): string {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

type Counted = Key extends infer K ? (K extends `${infer Stem}.other` ? Stem : never) : never

/** tn is the text for a number of things: one of the keys NAME.one and NAME.other, with {n}. */
export function tn(key: Counted, n: number, values: Values = {}): string {
  const form = plurals.select(n) === 'one' ? 'one' : 'other'
  return t(`${key}.${form}` as Key, { n: n.toLocaleString('en'), ...values })
}

/** has reports whether there is a text of that name. */
export const has = (key: string): key is Key => key in words
