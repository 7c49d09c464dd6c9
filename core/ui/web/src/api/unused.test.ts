import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unused } from './unused'

const src = join(import.meta.dirname, '..')
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** The operations of the document, by method and path. */
function declared(): Map<string, string> {
  const schema = readFileSync(join(src, 'api/schema.d.ts'), 'utf8')
  const paths = schema.slice(
    schema.indexOf('export interface paths'),
    schema.indexOf('\nexport ', schema.indexOf('export interface paths') + 1),
  )
  const found = new Map<string, string>()
  let path = ''
  for (const line of paths.split('\n')) {
    path = /^ {4}"(\/[^"]+)": \{$/.exec(line)?.[1] ?? path
    const [, method, name] = /^ {8}(get|post|put|patch|delete): operations\["(\w+)"\];$/.exec(line) ?? []
    if (method && name) found.set(`${method} ${path}`, name)
  }
  return found
}

/**
 * used returns the methods and paths that one file requests through the typed client. A path that begins with a base gets each base in its
 * file for which such an operation exists.
 */
function used(text: string, operations: ReadonlyMap<string, string>): string[] {
  const found: string[] = []
  const bases = [...text.matchAll(/base: '([^']+)'/g)].map(([, base]) => base!)
  const add = (method: string, path: string): unknown =>
    found.push(
      ...(path.startsWith('${base}')
        ? bases.map((base) => `${method} ${base}${path.slice('${base}'.length)}`).filter((one) => operations.has(one))
        : [`${method} ${path}`]),
    )
  const literal = "(?:'([^']+)'|`([^`]+)`)"
  for (const method of methods) {
    for (const [, one, other] of text.matchAll(new RegExp(`\\bapi\\s*\\.${method}\\(\\s*${literal}`, 'g')))
      add(method, one ?? other!)
    for (const [, one, other] of text.matchAll(new RegExp(`\\bcommand\\(\\s*'${method}',\\s*${literal}`, 'g')))
      add(method, one ?? other!)
    // What api/upload.ts sends, and streams: their method is before or after the path.
    for (const [, one, other] of text.matchAll(new RegExp(`method: '${method}',\\s*path: ${literal}`, 'g')))
      add(method, one ?? other!)
  }
  for (const [, one, other] of text.matchAll(
    new RegExp(`\\b(?:address|logStream[^{]*\\{[^}]*path:|return \\{ path:)\\(?\\s*${literal}`, 'g'),
  ))
    add('get', one ?? other!)
  return found
}

test('every operation is used by the page, or it stands in the list why not', () => {
  const operations = declared()
  expect(operations.size).toBeGreaterThan(300)
  const asked = new Set(
    readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(svelte|ts)$/.test(path) && !/\.(test|check)\.ts$|schema\.d\.ts$|operations\.ts$/.test(path))
      .flatMap((path) => used(readFileSync(join(src, path), 'utf8'), operations)),
  )
  const names = [...operations.values()]
  const isUsed = new Set([...operations].filter(([operation]) => asked.has(operation)).map(([, name]) => name))
  expect(
    [...asked].filter((operation) => operation.includes(' /api/v1/') && !operations.has(operation)),
    'no operation',
  ).toEqual([])
  expect(
    names.filter((name) => !isUsed.has(name) && !Object.hasOwn(unused, name)),
    'neither used nor listed',
  ).toEqual([])
  expect(
    Object.keys(unused).filter((name) => isUsed.has(name)),
    'used and listed',
  ).toEqual([])
  expect(
    Object.keys(unused).filter((name) => !names.includes(name)),
    'listed and not in the document',
  ).toEqual([])
})
