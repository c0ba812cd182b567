/** JSON Schema in words: what a field may hold, and the fields of an object as rows of a table. */

export interface Schema {
  type?: string | string[]
  format?: string
  description?: string
  default?: unknown
  const?: unknown
  enum?: unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  prefixItems?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
}

const LARGE = 2 ** 53 - 1
const code = (value: unknown) => `\`${JSON.stringify(value)}\``

/** What may stand there. */
export function spoken(schema: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf ?? typesOf(schema)
  if (choices) return [...new Set(choices.map(spoken))].join(' or ')
  if (schema.const !== undefined) return code(schema.const)
  if (schema.enum) return schema.enum.map(code).join(', ')
  if (schema.prefixItems) return `list of ${schema.prefixItems.map(spoken).join(' and ')}`
  if (schema.type === 'array') return `list${bounds(schema.minItems, schema.maxItems)} of ${inList(schema.items ?? {})}`
  if (schema.type === 'object')
    return schema.properties || schema.additionalProperties !== false ? 'object' : 'empty object'
  if (schema.type === 'string') return `string${bounds(schema.minLength, schema.maxLength, ' characters')}`
  if (schema.type === 'integer' || schema.type === 'number') {
    return `${schema.type === 'integer' ? 'integer' : 'number'}${bounds(schema.minimum, schema.maximum)}`
  }
  return typeof schema.type === 'string' ? schema.type : 'anything'
}

/** In brackets where it is a choice, so that what may stand in place of the list is not taken for a part of it. */
function inList(schema: Schema): string {
  const text = spoken(schema)
  return text.includes(' or ') ? `(${text})` : text
}

/** A choice of types as one schema for each. */
function typesOf(schema: Schema): Schema[] | undefined {
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : undefined
}

function bounds(least: number | undefined, most: number | undefined, unit = ''): string {
  const low = least === undefined || least <= -LARGE ? undefined : least
  const high = most === undefined || most >= LARGE ? undefined : most
  const grouped = (n: number | undefined) => n?.toLocaleString('en')
  if (low !== undefined && high !== undefined) return ` (${grouped(low)} to ${grouped(high)}${unit})`
  if (high !== undefined) return ` (at most ${grouped(high)}${unit})`
  return low !== undefined && unit === '' ? ` (from ${grouped(low)})` : ''
}

export interface Row {
  name: string
  schema: Schema
  required: boolean
}

/** The fields, and those of what lies inside them down to a depth: `rollouts[].completion`. */
export function fieldsOf(schema: Schema, depth: number, before = ''): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inside = within(field)
    const place = `${before}${name}`
    const row = { name: place, schema: field, required: schema.required?.includes(name) ?? false }
    return [row, ...(depth > 1 && inside ? fieldsOf(inside.schema, depth - 1, `${place}${inside.suffix}.`) : [])]
  })
}

function within(field: Schema): { schema: Schema; suffix: string } | undefined {
  const object = [field, ...(field.anyOf ?? field.oneOf ?? [])].find((each) => each.properties)
  if (object) return { schema: object, suffix: '' }
  const list = [field, ...(field.anyOf ?? [])].find((each) => each.type === 'array')
  const inside = list?.items && within(list.items)
  return inside && { schema: inside.schema, suffix: `[]${inside.suffix}` }
}

/** For a cell of a table. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
