// JSON schemas of parameters, as far as the service uses them, and the forms for them.

/** Schema describes a form. */
export interface Schema {
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  maxItems?: number
  $ref?: string
  $defs?: Record<string, Schema>
}

export type Values = Record<string, unknown>

/** resolved follows a reference to a definition in the same document. Members next to the reference take precedence. */
export function resolved(schema: Schema, defs: Record<string, Schema>): Schema {
  const name = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? '')?.[1]
  const own = { ...schema }
  delete own.$ref
  return name && defs[name] ? { ...defs[name], ...own } : own
}

/** typeOf returns the type of the values; null next to it only means that the value is optional. */
export function typeOf({ type, enum: values }: Schema): string {
  if (values) return 'enum'
  const one = Array.isArray(type) ? type.find((t) => t !== 'null') : type
  return one ?? 'string'
}

/** isEmpty reports whether a value counts as missing, so that it is not sent. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}

/** filled returns the object without empty values at any depth. */
export function filled(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => !isEmpty(value))
      .map(([name, value]) => [name, tidy(value)]),
  )
}

function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !isEmpty(one)).map(tidy)
  return value !== null && typeof value === 'object' ? filled(value as Values) : value
}

/** read converts typed text to the type: to a number if it is one, otherwise to the text, which the service refuses at its field. */
export function read(type: string, text: string): unknown {
  if (text.trim() === '') return undefined
  if (type === 'integer' && /^-?\d{1,15}$/.test(text.trim())) return Number(text)
  if (type === 'number' && Number.isFinite(Number(text))) return Number(text)
  return text
}
