/** docs/reference/http.md: every call of the OpenAPI document, by resource. */
import { describeSchema, type JsonSchema, listFields } from './schema.ts'
import { escapeTableCell } from './table.ts'

interface MediaContent {
  'application/json'?: { schema?: JsonSchema; examples?: Record<string, { summary?: string; value: unknown }> }
}
interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: JsonSchema
}
interface Operation {
  summary?: string
  description?: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: { content: MediaContent }
  responses: Record<string, { description?: string; content?: MediaContent }>
}
export interface OpenApi {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
}

const PAGE_HEAD = [
  '# HTTP reference',
  '',
  'Made by `npm run docs:reference` from [openapi.json](../../openapi/openapi.json), which a running server also shows at `/docs`, to try.',
  'Failures are `application/problem+json` with a `code`: the [README](../../README.md#errors) lists them. A field that is not named',
  'is refused. `rollouts[].completion` is a field of each object in the list `rollouts`; after the semicolon stands the default.',
].join('\n')

export function buildHttpPage({ tags, paths }: OpenApi): string {
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
  )
  const sections = tags.map(({ name, description }) => {
    const of = calls.filter(({ operation }) => operation.tags[0] === name)
    return [
      `## ${name}`,
      `${description}.`,
      ...of.map(({ title, operation }) => formatOperation(title, operation)),
    ].join('\n\n')
  })
  return `${[PAGE_HEAD, ...sections].join('\n\n')}\n`
}

function formatOperation(title: string, operation: Operation): string {
  const body = operation.requestBody?.content['application/json']
  const parts = [
    `### ${title}`,
    `${operation.summary ?? ''}. ${operation.description ?? ''}`.trim(),
    formatTable('parameter', (operation.parameters ?? []).map(formatParameter)),
    ...formatBodies(body?.schema),
    ...Object.entries(operation.responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, { content }]) => formatResponse(status, content)),
    formatExample(title, body?.examples),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** A body of several forms has a table for each. */
function formatBodies(schema: JsonSchema | undefined): string[] {
  if (!schema) return []
  const forms = schema.anyOf ?? schema.oneOf ?? [schema]
  return forms.map((form, k) => {
    const head = forms.length > 1 ? `field of the body, form ${k + 1}` : 'field of the body'
    return formatTable(head, listFields(form, 3).map(formatField)) || `The body: ${describeSchema(form)}`
  })
}

function formatParameter({ name, in: place, required, description, schema }: Parameter): string[] {
  const where = place === 'query' ? '' : `, ${place}`
  return [
    `\`${name}\`${where}`,
    formatType(schema, required === true && place !== 'path'),
    description ?? schema.description ?? '',
  ]
}

function formatField({ name, schema, required }: { name: string; schema: JsonSchema; required: boolean }): string[] {
  return [`\`${name}\``, formatType(schema, required), schema.description ?? '']
}

function formatType(schema: JsonSchema, required: boolean): string {
  const more = schema.default === undefined ? (required ? ', required' : '') : `; \`${formatShort(schema.default)}\``
  return `${describeSchema(schema)}${more}`
}

function formatShort(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

function formatTable(head: string, rows: string[][]): string {
  if (rows.length === 0) return ''
  return [`| ${head} | | |`, '|---|---|---|', ...rows.map((row) => `| ${row.map(escapeTableCell).join(' | ')} |`)].join(
    '\n',
  )
}

function formatResponse(status: string, content: MediaContent | undefined): string {
  const schema = content?.['application/json']?.schema
  const forms = schema ? (schema.anyOf ?? schema.oneOf ?? [schema]) : []
  const named = forms.map(
    (form) =>
      listFields(form, 1)
        .map(({ name }) => `\`${name}\``)
        .join(', ') || describeSchema(form),
  )
  const what = named.length > 0 ? named.join('; or ') : (Object.keys(content ?? {})[0] ?? 'no body')
  return `**${status}**: ${what}`
}

function formatExample(title: string, examples: Record<string, { value: unknown }> | undefined): string {
  const [first] = Object.values(examples ?? {})
  return first ? `\`\`\`json\n// ${title}\n${JSON.stringify(first.value, null, 2)}\n\`\`\`` : ''
}
