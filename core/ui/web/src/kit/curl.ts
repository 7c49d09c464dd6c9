// A request of the API as a line for a shell.
import { address, type Command } from '../api/client'

/** What a shell, a terminal or a reader would take for something else: controls, and characters that turn or hide writing. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g

/** Fields whose values are shown to nobody. */
const secret = /password|secret|^(bearer_)?token$|^code$|^paste$/

/** quote makes one word of a text for any POSIX shell: within single quotes nothing has a meaning but their end. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** json is the body without what is secret, in characters that can be seen. All that stands in "secrets" is. */
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
 * curl is the request as a command. The key stands in a variable of the shell, for it is nobody's business but the reader's. Secrets of
 * the body are left out: three dots stand in their places.
 */
export function curl({ method, path, options }: Command, origin: string): string {
  const words = ['curl', '-sS', '-g']
  if (method !== 'get') words.push('-X', method.toUpperCase())
  words.push(quote(new URL(address(path, options), origin).href), '-H', '"Authorization: Bearer $HOSTLER_KEY"')
  for (const [name, value] of Object.entries(options.headers ?? {})) words.push('-H', quote(`${name}: ${value}`))
  if (options.form) {
    // A file is named as a word within a word, and its name is asked for within quotes: a comma or a semicolon would end it.
    for (const [name, value] of Object.entries(options.form.fields)) words.push('--form-string', quote(`${name}=${value}`))
    words.push('-F', quote(`file=@"${options.form.file.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replace(unseen, '?')}"`))
  }
  if (options.body !== undefined && options.body !== null)
    words.push('-H', quote('Content-Type: application/json'), '--data-raw', quote(json(options.body)))
  return words.join(' ')
}
