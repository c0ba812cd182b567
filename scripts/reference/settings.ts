/** What the pages of run settings and of environment variables share: fields of a schema, sorted into groups. */
import { z } from 'zod'
import { inlineReferences } from './inline-references.ts'
import { formatShortValue, type JsonSchema } from './schema.ts'

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
