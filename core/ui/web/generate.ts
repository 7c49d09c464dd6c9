// Writes src/api/schema.d.ts and src/api/operations.ts from openapi.json, the OpenAPI document of the service.
import { readFileSync, writeFileSync } from 'node:fs'
import openapi, { astToString } from 'openapi-typescript'

interface Operation {
  operationId: string
  'x-role'?: string
  'x-on'?: string
  'x-scope'?: string
  'x-entitlement'?: string
  'x-capability'?: string
  'x-confirm'?: { when: string; field?: string; phrase?: string }
}

const document = JSON.parse(readFileSync('openapi.json', 'utf8'))
const head = '// Written by make ui from the OpenAPI document. Do not edit.\n'

// Descriptions stay in the document and its page: here they would only make the file several times as long.
const prose = new Set(['description', 'summary', 'example', 'examples', 'pattern', 'format'])

/** The document without prose. What stands in properties are names of fields, whatever they are called. */
function withoutProse(value: unknown, names = false): unknown {
  if (Array.isArray(value)) return value.map((inner) => withoutProse(inner))
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([key]) => names || !prose.has(key))
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutProse(inner, key === 'properties')]))
}

const slim = withoutProse({ ...document, 'x-errors': undefined }) as Record<string, unknown>
writeFileSync('src/api/schema.d.ts', head + astToString(await openapi(JSON.stringify(slim), { silent: true })))

const lines: string[] = []
const scopes = new Set<string>()
for (const methods of Object.values(document.paths as Record<string, Record<string, Operation>>)) {
  for (const o of Object.values(methods)) {
    if (!o['x-role']) continue
    if (o['x-scope']) scopes.add(o['x-scope'])
    const confirm = o['x-confirm']
    const rest = [
      o['x-entitlement'] ?? '',
      o['x-capability'] ?? '',
      !confirm || confirm.when === 'never' ? '' : `${confirm.when}:${confirm.field ?? ''}`,
    ]
    while (rest.at(-1) === '') rest.pop()
    lines.push(`  ${o.operationId}: '${[o['x-role'], o['x-on'], ...rest].join(' ')}',`)
  }
}
/** byNeeds is the key that sorts operations with the same needs next to each other, which compresses best. */
const byNeeds = (line: string): string => line.split(': ').reverse().join(': ')
lines.sort((a, b) => (byNeeds(a) < byNeeds(b) ? -1 : 1))
const errors = (document['x-errors'] as { error: string }[]).map((e) => `  | '${e.error}'`).sort()
writeFileSync(
  'src/api/operations.ts',
  `${head}
/** Every operation that needs a role: the role, where it must be held, then the entitlement, the token, and when it is confirmed. */
export const operations = {
${lines.join('\n')}
} as const

export type OperationId = keyof typeof operations

/** What a key may be narrowed to. */
export const scopes = [${[...scopes]
    .sort()
    .map((scope) => `'${scope}'`)
    .join(', ')}] as const

/** Every error identifier of the API. */
export type ErrorId =
${errors.join('\n')}
`,
)
