// An API request as a shell command.
import { address, type Command } from '../api/client'

/** Control characters, and characters that hide text or change its direction. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g

/** Fields whose values are never shown. */
const secret = /password|secret|^(bearer_)?token$|^code$|^paste$/

/** quote makes one shell word of a text. Within single quotes, only the closing quote has a meaning. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** json returns the body without secrets, in visible characters. Everything in "secrets" is a secret. */
export function json(body: unknown): string {
  const hide = (value: unknown): unknown => (typeof value === 'string' && value ? '…' : value)
  const text = JSON.stringify(body, (name, value: unknown) => {
    if (name === 'secrets' && value && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([one, inner]) => [one, hide(inner)]))
    return secret.test(name) ? hide(value) : value
  })
  return text.replace(unseen, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * curl returns the request as a command. The key is in a shell variable, because only the reader may know it. Secrets of the body are
 * replaced by three dots.
 */
export function curl({ method, path, options }: Command, origin: string): string {
  const words = ['curl', '-sS', '-g']
  if (method !== 'get') words.push('-X', method.toUpperCase())
  words.push(quote(new URL(address(path, options), origin).href), '-H', '"Authorization: Bearer $HOSTLER_KEY"')
  for (const [name, value] of Object.entries(options.headers ?? {})) words.push('-H', quote(`${name}: ${value}`))
  if (options.form) {
    // A file is named within a quoted word, and its name must be quoted too: a comma or a semicolon would end it.
    for (const [name, value] of Object.entries(options.form.fields)) words.push('--form-string', quote(`${name}=${value}`))
    words.push('-F', quote(`file=@"${options.form.file.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replace(unseen, '?')}"`))
  }
  if (options.body !== undefined && options.body !== null)
    words.push('-H', quote('Content-Type: application/json'), '--data-raw', quote(json(options.body)))
  return words.join(' ')
}
