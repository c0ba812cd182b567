/** Describes in words the values that a field accepts. */

export interface JsonSchema {
  type?: string | string[]
  format?: string
  description?: string
  default?: unknown
  /** In place of a default that depends on the machine. */
  defaultInWords?: string
  const?: unknown
  enum?: unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  items?: JsonSchema
  prefixItems?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
}

const MAX_STATED_BOUND = 2 ** 53 - 1
const MAX_SHOWN_CHARS = 60
const formatCode = (value: unknown) => `\`${JSON.stringify(value)}\``

/** The values that the schema accepts. */
export function describeSchema(schema: JsonSchema): string {
  const choices = schema.anyOf ?? schema.oneOf ?? splitTypes(schema)
  if (choices) return [...new Set(choices.map(describeSchema))].join(' or ')
  if (schema.const !== undefined) return formatCode(schema.const)
  if (schema.enum) return schema.enum.map(formatCode).join(', ')
  if (schema.prefixItems) return `list of ${schema.prefixItems.map(describeSchema).join(' and ')}`
  if (schema.type === 'array')
    return `list${formatBounds(schema.minItems, schema.maxItems)} of ${describeListItem(schema.items ?? {})}`
  if (schema.type === 'object')
    return schema.properties || schema.additionalProperties !== false ? 'object' : 'empty object'
  if (schema.type === 'string') return `string${formatBounds(schema.minLength, schema.maxLength, ' characters')}`
  if (schema.type === 'integer' || schema.type === 'number') {
    return `${schema.type === 'integer' ? 'integer' : 'number'}${formatBounds(schema.minimum, schema.maximum)}`
  }
  return typeof schema.type === 'string' ? schema.type : 'anything'
}

/** A choice is in parentheses, so that an alternative to the list is not read as an alternative entry. */
function describeListItem(schema: JsonSchema): string {
  const text = describeSchema(schema)
  return text.includes(' or ') ? `(${text})` : text
}

/** One schema for each type of a schema with several types. */
function splitTypes(schema: JsonSchema): JsonSchema[] | undefined {
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : undefined
}

/** As code, cut where it is long. */
export function formatShortValue(value: unknown): string {
  const text = JSON.stringify(value)
  return `\`${text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}\``
}

function formatBounds(least: number | undefined, most: number | undefined, unit = ''): string {
  const low = least === undefined || least <= -MAX_STATED_BOUND ? undefined : least
  const high = most === undefined || most >= MAX_STATED_BOUND ? undefined : most
  const grouped = (n: number | undefined) => n?.toLocaleString('en')
  if (low !== undefined && high !== undefined) return ` (${grouped(low)} to ${grouped(high)}${unit})`
  if (high !== undefined) return ` (at most ${grouped(high)}${unit})`
  return low !== undefined && unit === '' ? ` (from ${grouped(low)})` : ''
}
