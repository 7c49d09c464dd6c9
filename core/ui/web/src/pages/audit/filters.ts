// The filters of the audit log in the address.
import { only, parse, wordsOf, type Fields } from '../../kit/query'

const actors = ['user', 'api_key', 'system', 'anonymous'] as const
const results = ['ok', 'refused', 'failed'] as const

export { actors, results }

/** The same filters as typed fields. The service searches for the words as one text. */
export const auditFields: Fields<never> = {
  plain: 'all',
  fields: {
    action: { offers: () => ['vm.*', 'app.*', 'host.*', 'user.*', 'team.*', 'auth.*', 'firewall.*', 'storage.*', 'schedule.*'] },
    by: { values: actors },
    result: { values: results },
    target: {},
  },
}
const isTarget = (text: string | undefined): text is string => /^[a-z_]{1,32}:\d{1,18}$/.test(text ?? '')

/** Filters are those of the page; empty ones do not filter. Times are ISO, so that a link shows the same to everybody. */
export interface Filters {
  action: string
  search: string
  actor_type: string
  /** A user's ID. */
  actor: string
  result: string
  from: string
  to: string
}

/** misfitsOf returns the terms of the text that cannot be understood. */
export function misfitsOf(typed: string) {
  const read = parse(typed, auditFields)
  const target = only(read, 'target')
  const wrong = target !== undefined && !isTarget(target)
  return wrong ? [...read.misfits, { kind: 'value' as const, field: 'target', text: 'vm:3, app:7, host:1' }] : read.misfits
}

const isTime = (text: string): boolean => text !== '' && !Number.isNaN(Date.parse(text))

/** filtersOf reads the filters. Values that the service would not accept are ignored. */
export function filtersOf(query: URLSearchParams): Filters {
  const one = (name: string): string => query.get(name) ?? ''
  const time = (name: string): string => (isTime(one(name)) ? new Date(one(name)).toISOString().replace('.000Z', 'Z') : '')
  return {
    action: one('action').slice(0, 100),
    search: one('search').slice(0, 200),
    actor_type: actors.find((actor) => actor === one('actor_type')) ?? '',
    actor: /^[1-9]\d{0,14}$/.test(one('actor')) ? one('actor') : '',
    result: results.find((result) => result === one('result')) ?? '',
    from: time('from'),
    to: time('to'),
  }
}

export const isNarrowed = (filters: Filters): boolean => Object.values(filters).some((value) => value !== '')

/** queryOf returns the query for the service. Typed fields take precedence over chosen ones. */
export function queryOf({ action: chosen, search: typed, actor_type, actor, result, from, to }: Filters) {
  const read = parse(typed, auditFields)
  const type = actors.find((one) => one === (only(read, 'by')?.toLowerCase() ?? actor_type))
  const ended = results.find((one) => one === (only(read, 'result')?.toLowerCase() ?? result))
  const action = (only(read, 'action') ?? chosen).slice(0, 100)
  const search = wordsOf(read)
  const target = only(read, 'target')
  return {
    ...(action ? { action } : {}),
    ...(search ? { search } : {}),
    ...(isTarget(target) ? { target } : {}),
    ...(type ? { actor_type: type } : {}),
    ...(actor ? { actor: Number(actor) } : {}),
    ...(ended ? { result: ended } : {}),
    ...(from ? { from_: from } : {}),
    ...(to ? { to } : {}),
  }
}
