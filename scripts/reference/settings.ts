/** What the pages of run settings and of environment variables share: fields of a schema, sorted into groups. */
import { z } from 'zod'
import { inlineReferences } from '../../src/http/openapi/components.ts'
import type { JsonSchema } from './schema.ts'

const MAX_SHOWN_CHARS = 60

type Field = [name: string, schema: JsonSchema]

/** Throws if a field is in no group or in two, so that no setting is missing from its page. */
export function listGroupedFields(
  schema: z.ZodType,
  groups: Record<string, readonly string[]>,
): [title: string, fields: Field[]][] {
  const document = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const { properties = {} } = inlineReferences(document, document.$defs ?? {}) as JsonSchema // of an object
  const grouped = Object.values(groups).flat()
  const ungrouped = Object.keys(properties).filter((name) => grouped.filter((each) => each === name).length !== 1)
  if (ungrouped.length > 0) throw new Error(`Put each of these into one group: ${ungrouped.join(', ')}`)
  return Object.entries(groups).map(([title, names]) => [title, names.map((name) => [name, properties[name] ?? {}])])
}

export function formatDefault(schema: JsonSchema): string {
  return schema.default === undefined ? '' : formatValue(schema.default)
}

export function formatValue(value: unknown): string {
  const text = JSON.stringify(value)
  return `\`${text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}\``
}
