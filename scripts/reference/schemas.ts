/** docs/reference/schemas.md: every schema of the OpenAPI document with its fields. */
import type { OpenApiDocument } from './openapi-document.ts'
import { describeSchema, formatShortValue, type JsonSchema, listFields } from './schema.ts'
import { formatTable } from './table.ts'

const PAGE_HEAD = `# Schemas

This page lists the request and response bodies of [all calls](http.md), in alphabetical order. \`rollouts[].completion\` means the field
\`completion\` of each object in the list \`rollouts\`.`

export function buildSchemasPage({ components }: OpenApiDocument): string {
  const sections = Object.entries(components.schemas).map(([name, schema]) =>
    [`## ${name}`, schema.description ?? '', formatSchema(schema, components.schemas)].filter(Boolean).join('\n\n'),
  )
  return `${[PAGE_HEAD, ...sections].join('\n\n')}\n`
}

function formatSchema(schema: JsonSchema, schemas: Record<string, JsonSchema>): string {
  const [base, own] = schema.allOf ?? []
  if (base && own) return `All fields of ${describeSchema(base)}, and:\n\n${formatSchema(own, schemas)}`
  const fields = listFields(schema, 3)
  if (fields.length === 0) return describeSchema(schema)
  const rows = fields.map(({ name, schema: field, required }) => [
    `\`${name}\``,
    describeSchema(field),
    required ? 'required' : field.default === undefined ? '' : formatShortValue(field.default),
    field.description ?? schemas[field.$ref?.split('/').at(-1) ?? '']?.description ?? '',
  ])
  return formatTable(['field', 'type', 'default', 'meaning'], rows)
}
