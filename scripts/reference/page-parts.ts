/** Parts of the generated pages: tables, and the fields of schemas in words. */
import { z } from 'zod'

export function formatTable(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(escapeTableCell).join(' | ')} |`).join('\n')
}

function escapeTableCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

/** Finds the target of a reference by its path, such as `#/$defs/RunName`; keywords beside a reference win. */
export function inlineReferences<T>(value: T, find: (path: string) => unknown): T {
  return inline(value) as T // references stand only where their target may

  function inline(one: unknown): unknown {
    if (Array.isArray(one)) return one.map(inline)
    if (typeof one !== 'object' || one === null) return one
    const { $ref, ...rest } = one as { $ref?: unknown }
    const inlined = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, inline(inner)]))
    if (typeof $ref !== 'string') return inlined
    return { ...(inline(find($ref)) as object), ...inlined } // a component is an object
  }
}

/** The document without references: schemas, parameters and responses stand where they are used. */
export function inlineComponents<T extends { components: Record<string, Record<string, unknown>> }>(document: T): T {
  return inlineReferences(document, (path) => {
    const [section = '', name = ''] = path.split('/').slice(-2)
    return document.components[section]?.[name]
  })
}

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

const MIB = 1024 ** 2
const GIB = 1024 ** 3

type Field = [name: string, schema: JsonSchema]

/** Throws if a field is in no group or in two, so that no setting is missing from its page. */
export function listGroupedFields(
  schema: z.ZodType,
  groups: Record<string, readonly string[]>,
): [title: string, fields: Field[]][] {
  const document = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const find = (path: string) => document.$defs?.[path.slice(path.lastIndexOf('/') + 1)]
  const { properties = {} } = inlineReferences<JsonSchema>(document as JsonSchema, find) // of an object
  const grouped = Object.values(groups).flat()
  const ungrouped = Object.keys(properties).filter((name) => grouped.filter((each) => each === name).length !== 1)
  if (ungrouped.length > 0) throw new Error(`Put each of these into one group: ${ungrouped.join(', ')}`)
  return Object.entries(groups).map(([title, names]) => [title, names.map((name) => [name, properties[name] ?? {}])])
}

/** Empty without a default. Whole numbers of MiB are shown as bytes with a unit. */
export function formatDefault({ default: value }: JsonSchema): string {
  if (typeof value === 'number' && value >= MIB && value % MIB === 0)
    return value % GIB === 0 ? `${value / GIB} GiB` : `${value / MIB} MiB`
  return value === undefined ? '' : formatShortValue(value)
}
