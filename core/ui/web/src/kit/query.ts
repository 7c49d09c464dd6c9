// The filter language of lists: words, and fields such as tag:prod status:running cpu:>80. All terms must match; a hyphen excludes matches,
// and quotation marks keep spaces. Terms that cannot be understood are ignored and reported, so that a typo does not empty the list.

/** Texts are the values of a field of an object; empty ones count as none. */
type Texts = (string | number | null | undefined)[]

/** Field can be used before a colon. */
export interface Field<T> {
  /** Its values for an object. The whole value must match, and * stands for any text. */
  texts?: (thing: T) => Texts
  /** A numeric value of an object, for comparisons: >80, <=5 or a number alone. Null is unknown and matches nothing. */
  number?: (thing: T) => number | null | undefined
  /** Units that may follow a number, and their factors. */
  units?: Readonly<Record<string, number>>
  /** The only possible values. */
  values?: readonly string[]
  /** Suggested values; others can be typed. */
  offers?: () => Iterable<string | null | undefined>
}

/** Fields are those of one list. words returns the texts that are searched for words; without it, the service searches. */
export interface Fields<T> {
  words?: (thing: T) => Texts
  fields: Readonly<Record<string, Field<T>>>
  /** Terms that the service does not allow to be excluded: none of them, or no word. */
  plain?: 'all' | 'words'
  /** The maximum number of terms, if the service has its own limit. */
  most?: number
}

/** Term is one condition, as it was understood. */
export interface Term {
  /** A term without a field is a word. */
  field: string
  value: string
  not: boolean
  sign?: Sign
  number?: number
}
type Sign = '=' | '>' | '<' | '>=' | '<='

/** Misfit is a term that could not be understood. */
export interface Misfit {
  kind: 'number' | 'value' | 'quote' | 'field' | 'not' | 'long' | 'many'
  field: string
  /** The typed text, or possible values. */
  text: string
}

export interface Query {
  terms: Term[]
  misfits: Misfit[]
}

/** Limits: characters, and terms. */
export const longest = 1000
const most = 40

/** pieces splits a text into terms; spaces in quotation marks do not separate. */
export function pieces(text: string): { text: string; from: number }[] {
  return [...text.matchAll(/-?(?:[^\s"]|"[^"]*"?)+/g)].map((found) => ({ text: found[0], from: found.index }))
}

/** parse reads the typed text. It never fails: terms that it does not understand are misfits. */
export function parse<T>(typed: string, { fields, plain, most: bound = most }: Fields<T>): Query {
  const query: Query = { terms: [], misfits: [] }
  const misfit = (kind: Misfit['kind'], field = '', text = ''): unknown => query.misfits.push({ kind, field, text })
  const read = typed.slice(0, longest)
  if (typed.length > longest) misfit('long', '', String(longest))
  if ((read.split('"').length - 1) % 2) misfit('quote')
  const found = pieces(read)
  if (found.length > bound) misfit('many', '', String(bound))
  for (const { text } of found.slice(0, bound)) {
    const not = text.startsWith('-') && text !== '-'
    const term = not ? text.slice(1) : text
    const [, named = '', quoted] = /^([a-z_]+):(.*)$/is.exec(term) ?? []
    const name = named.toLowerCase()
    const field = Object.hasOwn(fields, name) ? fields[name]! : undefined
    const value = (field ? quoted! : term).replaceAll('"', '')
    // While a value is being typed, it excludes nothing.
    if (!value.trim() || text === '-') continue
    if (not && (plain === 'all' || (plain && !field))) {
      misfit('not', '', term)
      continue
    }
    if (!field) {
      // An IPv6 address is not a field, and neither is text in quotation marks.
      if (named && !/^[\da-f:.*]+$/i.test(term)) misfit('field', named, term)
      query.terms.push({ field: '', value, not })
    } else if (field.number) {
      const read = numberOf(value, field.units)
      if (read) query.terms.push({ field: name, value, not, ...read })
      else misfit('number', name, Object.keys(field.units ?? {}).join(', '))
    } else if (field.values && !field.values.some((one) => fits(one.toLowerCase(), patternOf(value, field)))) {
      misfit('value', name, field.values.join(', '))
    } else query.terms.push({ field: name, value, not })
  }
  return query
}

function numberOf(text: string, units: Readonly<Record<string, number>> = {}): { sign: Sign; number: number } | undefined {
  const [, sign = '=', figure, unit = ''] = /^(>=|<=|>|<|=)?(-?\d{1,15}(?:\.\d{1,9})?)\s?([a-z%]*)$/i.exec(text.trim()) ?? []
  if (figure === undefined) return undefined
  const by = unit === '' ? 1 : Object.entries(units).find(([name]) => name.toLowerCase() === unit.toLowerCase())?.[1]
  return by === undefined ? undefined : { sign: sign as Sign, number: Number(figure) * by }
}

/**
 * fits reports whether the whole text matches the pattern, ignoring case. It uses no regular expression, because many stars would make one
 * slow.
 */
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

/** The service does not accept stars in fields with fixed values. */
const patternOf = <T>(value: string, { texts }: Field<T>): string[] =>
  texts ? value.toLowerCase().split('*') : [value.toLowerCase()]

/** The known values of an object as texts. */
const known = (texts: Texts): string[] => texts.filter((one) => one !== null && one !== undefined && one !== '').map(String)

const any = (): boolean => true

function testOf<T>({ field, value, sign, number }: Term, { fields, words }: Fields<T>): (thing: T) => boolean {
  const { texts, number: figure } = fields[field] ?? { texts: undefined, number: undefined }
  if (figure && number !== undefined)
    return (thing) => {
      const has = figure(thing)
      if (has === null || has === undefined) return false
      return { '>': has > number, '<': has < number, '>=': has >= number, '<=': has <= number, '=': has === number }[sign ?? '=']
    }
  const low = value.toLowerCase()
  if (texts) {
    const pattern = low.split('*')
    return (thing) => known(texts(thing)).some((has) => fits(has.toLowerCase(), pattern))
  }
  // The service evaluates this term, so it filters nothing here.
  if (field || !words) return any
  return (thing) => known(words(thing)).some((has) => has.toLowerCase().includes(low))
}

/** filterOf returns a function that tests an object. */
export function filterOf<T>({ terms }: Query, fields: Fields<T>): (thing: T) => boolean {
  const tests = terms.map((term) => {
    const test = testOf(term, fields)
    return term.not && test !== any ? (thing: T): boolean => !test(thing) : test
  })
  return (thing) => tests.every((test) => test(thing))
}

/** Offer is a suggestion that replaces the term being typed. */
export interface Offer {
  value: string
  text: string
  from: number
  to: number
}

/** The number of suggestions. */
const offered = 20

/** offersOf returns suggestions for the term before the caret: fields, or values of a field. */
export function offersOf<T>(typed: string, caret: number, { fields }: Fields<T>): Offer[] {
  const piece = pieces(typed.slice(0, Math.min(caret, longest))).at(-1)
  if (!piece || piece.from + piece.text.length < caret) return []
  const hyphen = piece.text.startsWith('-') ? '-' : ''
  const term = piece.text.slice(hyphen.length)
  if (!term) return []
  const place = { from: piece.from, to: caret }
  const low = term.toLowerCase().replaceAll('"', '')
  const colon = low.indexOf(':')
  if (colon < 0)
    return Object.keys(fields)
      .filter((name) => name.startsWith(low))
      .map((name) => ({ value: `${hyphen}${name}:`, text: `${name}:`, ...place }))
  const name = low.slice(0, colon)
  if (!Object.hasOwn(fields, name)) return []
  const begun = low.slice(colon + 1)
  const { values, offers } = fields[name]!
  const found = new Set<string>()
  for (const one of values ?? offers?.() ?? []) {
    if (!one || one.toLowerCase() === begun || !one.toLowerCase().includes(begun)) continue
    found.add(one)
    if (found.size >= 500) break
  }
  return [...found]
    .sort((a, b) => {
      const begins = Number(b.toLowerCase().startsWith(begun)) - Number(a.toLowerCase().startsWith(begun))
      // Fixed values keep their order.
      return begins || (values || a === b ? 0 : a < b ? -1 : 1)
    })
    .slice(0, offered)
    .map((one) => {
      const plain = one.replaceAll('"', '')
      return { value: `${hyphen}${name}:${/\s/.test(plain) ? `"${plain}"` : plain} `, text: one, ...place }
    })
}

/** written returns the understood terms as text with the same meaning, for the service, which reads the same language. */
export function written(terms: Term[]): string {
  const quote = (value: string): string => (/[\s:]/.test(value) ? `"${value}"` : value)
  return terms.map(({ field, value, not }) => `${not ? '-' : ''}${field ? `${field}:` : ''}${quote(value)}`).join(' ')
}

/** only returns the value of a field that the service accepts once: the first one, undefined if there is none. */
export const only = ({ terms }: Query, field: string): string | undefined => terms.find((one) => one.field === field)?.value

/** wordsOf returns the words, separated by spaces. */
export const wordsOf = ({ terms }: Query): string =>
  terms
    .filter((one) => !one.field)
    .map((one) => one.value)
    .join(' ')

/** Units of sizes (the value is in bytes) and of durations (in seconds). Without a unit, the number is in GiB or days. */
export const sizes = {
  B: 2 ** -30,
  KiB: 2 ** -20,
  k: 2 ** -20,
  MiB: 2 ** -10,
  M: 2 ** -10,
  GiB: 1,
  G: 1,
  TiB: 2 ** 10,
  T: 2 ** 10,
}
export const spans = { min: 1 / 1440, h: 1 / 24, d: 1, w: 7 }
/** daysSince returns the age of a time, in days. */
export const daysSince = (at: string | null | undefined): number | null =>
  at ? Math.round((Date.now() - Date.parse(at)) / 86.4) / 1e6 : null
