// An API request as a command line for hostler.
import { address, type Command } from '../api/client'
import { json, quote } from './curl'

/**
 * hostler returns the request as a command of hostler, which adds the address and the key of its context. Secrets of the body are left out,
 * as in curl. A form has no such command: undefined.
 */
export function hostler({ method, path, options }: Command): string | undefined {
  if (options.form) return undefined
  const line = `hostler api ${method.toUpperCase()} ${quote(address(path, options))}`
  if (options.body === undefined || options.body === null) return line
  return `printf %s ${quote(json(options.body))} | ${line} --input -`
}
