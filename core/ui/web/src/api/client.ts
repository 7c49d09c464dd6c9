// The only code that talks to the service. The types come from the OpenAPI document: a wrong path, a missing field or a wrong value does
// not compile (client.check.ts).
import { href } from '../app/base'
import { Problem, problemOf } from './problem'
import type { paths } from './schema'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type With<M extends Method> = {
  [P in keyof paths]: NonNullable<paths[P][M]> extends { responses: unknown } ? P : never
}[keyof paths]
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>

type Parameters<O> = O extends { parameters: infer P } ? P : never
type PathOf<O> = Parameters<O> extends { path: infer V } ? { path: V } : { path?: never }
type QueryOf<O> = Parameters<O> extends { query?: infer V } ? { query?: V } : { query?: never }
type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
  ? { body: B }
  : O extends { requestBody?: { content: { 'application/json': infer B } } }
    ? { body?: B }
    : { body?: never }
/** told is called with the headers of a successful response. They describe a list as a whole. */
type Extra = { signal?: AbortSignal; headers?: Record<string, string>; told?: (headers: Headers) => void }
type Options<O> = PathOf<O> & QueryOf<O> & BodyOf<O> & Extra

type JSONOf<R> = R extends { content: { 'application/json': infer J } } ? J : undefined
type AnswerOf<O> = O extends { responses: infer R } ? JSONOf<R[keyof R & (200 | 201 | 202 | 204)]> : never

type Call<M extends Method> = <P extends With<M>>(
  path: P,
  ...options: Record<string, never> extends Options<Operation<P, M>> ? [Options<Operation<P, M>>?] : [Options<Operation<P, M>>]
) => Promise<AnswerOf<Operation<P, M>>>

/** Loose describes a request whose operation is not known at compile time. */
export interface Loose {
  path?: Record<string, string | number>
  query?: Record<string, unknown>
  body?: unknown
  signal?: AbortSignal
  headers?: Record<string, string>
  told?: (headers: Headers) => void
  /** The fields of a form that come before its file. api/upload.ts sends it. */
  form?: { fields: Record<string, string>; file: string }
}

/** unauthenticated is called when the session has ended. It resolves when somebody has logged in again. */
let unauthenticated: () => Promise<void> = () => Promise.reject(new Error('nobody logs in'))
export function onUnauthenticated(f: () => Promise<void>): void {
  unauthenticated = f
}

/** segment encodes one part of a path. It refuses dots alone, because they would lead to another path even when encoded. */
function segment(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new Problem({ id: 'not_found', status: 404 })
  return encodeURIComponent(value)
}

/** address returns the path of the API with its parameters filled in. */
export function address(path: string, { path: values = {}, query = {} }: Loose): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segment(String(values[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one))
  }
  return href(filled) + (search.size ? `?${search}` : '')
}

async function send(method: Method, path: string, options: Loose = {}): Promise<unknown> {
  for (let again = false; ; again = true) {
    const response = await ask(method, path, options)
    if (response.ok) {
      options.told?.(response.headers)
      return response.status === 204 ? undefined : response.json()
    }
    const problem = await problemOf(response)
    // A 401 of the login itself is a response. Any other 401 means that the session has ended and nothing was done, so the request can be
    // repeated.
    if (problem.id !== 'unauthenticated' || again) throw problem
    await unauthenticated()
  }
}

async function ask(method: Method, path: string, options: Loose): Promise<Response> {
  const init: RequestInit = { method: method.toUpperCase(), headers: { Accept: 'application/json', ...options.headers } }
  if (options.signal) init.signal = options.signal
  if (options.body !== undefined) {
    init.body = JSON.stringify(options.body)
    init.headers = { ...init.headers, 'Content-Type': 'application/json' }
  }
  try {
    return await fetch(address(path, options), init)
  } catch (cause) {
    if (options.signal?.aborted) throw cause
    throw new Problem({ id: 'offline', status: 0 })
  }
}

const call = <M extends Method>(method: M) =>
  ((path: string, options?: Loose) => send(method, path, options)) as unknown as Call<M>

export const api = { get: call('get'), post: call('post'), put: call('put'), patch: call('patch'), delete: call('delete') }

/** Command is a request that has not been sent yet. It can be shown first, and exactly what was shown is sent. */
export interface Command<A = unknown> {
  method: Method
  path: string
  options: Loose
  /** The type of the response; it has no value. */
  answer?: A
}

/** command creates a request of an operation without sending it. */
export const command = <M extends Method, P extends With<M>>(
  method: M,
  path: P,
  ...[options]: Record<string, never> extends Options<Operation<P, M>> ? [Options<Operation<P, M>>?] : [Options<Operation<P, M>>]
): Command<AnswerOf<Operation<P, M>>> => ({ method, path, options: (options ?? {}) as Loose })

/** run sends a command. */
export const run = <A>({ method, path, options }: Command<A>): Promise<A> => send(method, path, options) as Promise<A>
