/** docs/reference/http.md: every call of the OpenAPI document, by resource. */
import { formatJson } from '../format-json.ts'
import type { MediaContent, OpenApiDocument, Operation, Parameter } from './openapi-document.ts'
import { describeSchema, formatShortValue, type JsonSchema } from './schema.ts'
import { formatTable } from './table.ts'

/** Characters of a line. */
const EXAMPLE_WIDTH = 120

const PAGE_HEAD = `# HTTP calls

This page lists all calls of the server. It is generated from [openapi.json](../../openapi/openapi.json), which a running server
serves at \`/openapi.json\`. At \`/docs\` you can read it as pages and try each call. [Schemas](schemas.md) describes the bodies field
by field, and [Access](access.md) lists the roles that may make each call. Keys with the role \`admin\` may make every call.

The server rejects a body with an unknown field. A failed call returns a [problem document](errors.md). Each call below lists the
error codes that depend on what it does; any call can also fail with the codes for access, limits and availability.`

export function buildHttpPage({ tags, paths }: OpenApiDocument): string {
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
  )
  const sections = tags.map(({ name, description }) => {
    const ofTag = calls.filter(({ operation }) => operation.tags[0] === name)
    return [`## ${name}`, description, ...ofTag.map(({ title, operation }) => formatOperation(title, operation))].join(
      '\n\n',
    )
  })
  return `${[PAGE_HEAD, ...sections].join('\n\n')}\n`
}

function formatOperation(title: string, operation: Operation): string {
  const body = operation.requestBody?.content
  const parts = [
    `### ${title}`,
    [operation.summary ? `**${operation.summary}.**` : '', operation.description ?? ''].join(' ').trim(),
    formatParameters(operation.parameters ?? []),
    body ? `**Request body:** ${describeContent(body)}` : '',
    formatExample(title, body?.['application/json']?.examples),
    formatResponses(operation),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function formatParameters(parameters: Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    `\`${name}\``,
    required === true && place !== 'path' ? `${place}, required` : place,
    formatType(schema),
    description ?? schema.description ?? '',
  ])
  return formatTable(['parameter', 'in', 'type', 'meaning'], rows)
}

function formatType(schema: JsonSchema): string {
  const value = schema.default === undefined ? '' : `; default ${formatShortValue(schema.default)}`
  return `${describeSchema(schema)}${value}`
}

function formatResponses({ responses }: Operation): string {
  const entries = Object.entries(responses)
  const successes = entries
    .filter(([status]) => Number(status) < 400)
    .flatMap(([status, { content, description = '' }]) => [
      `**${status}**: ${describeContent(content)}. ${description}`.trim(),
      formatResponseExample(content),
    ])
  const codes = entries
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { description = '' }]) => [...description.matchAll(/`(\w+)`/g)].map(([, code]) => `\`${code}\``))
  return [...successes, codes.length > 0 ? `Errors: ${codes.join(', ')}` : ''].filter(Boolean).join('\n\n')
}

function describeContent(content: MediaContent | undefined): string {
  const schema = content?.['application/json']?.schema
  if (schema) return describeSchema(schema)
  const [type] = Object.keys(content ?? {})
  return type === undefined ? 'no body' : `\`${type}\``
}

function formatResponseExample(content: MediaContent | undefined): string {
  const example = content?.['application/json']?.example
  return example === undefined ? '' : `\`\`\`json\n${formatJson(example, EXAMPLE_WIDTH)}\n\`\`\``
}

function formatExample(title: string, examples: Record<string, { value: unknown }> | undefined): string {
  const [first] = Object.values(examples ?? {})
  return first ? `\`\`\`json\n// ${title}\n${JSON.stringify(first.value, null, 2)}\n\`\`\`` : ''
}
