/** docs/http.md: every call of the OpenAPI document, by resource. */
import { cell, fieldsOf, type Schema, spoken } from './schema.ts'

interface Content {
  'application/json'?: { schema?: Schema; examples?: Record<string, { summary?: string; value: unknown }> }
}
interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}
interface Operation {
  summary?: string
  description?: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { description?: string; content?: Content }>
}
export interface OpenApi {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
}

const HEAD = [
  '# HTTP reference',
  '',
  'Made by `npm run docs` from [openapi.json](../openapi/openapi.json), which a running server also shows at `/docs`, to try.',
  'Failures are `application/problem+json` with a `code`: the [README](../README.md#errors) lists them. A field that is not named',
  'is refused. `rollouts[].completion` is a field of each object in the list `rollouts`; after the semicolon stands the default.',
].join('\n')

export function httpPage({ tags, paths }: OpenApi): string {
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
  )
  const sections = tags.map(({ name, description }) => {
    const of = calls.filter(({ operation }) => operation.tags[0] === name)
    return [`## ${name}`, `${description}.`, ...of.map(({ title, operation }) => call(title, operation))].join('\n\n')
  })
  return `${[HEAD, ...sections].join('\n\n')}\n`
}

function call(title: string, operation: Operation): string {
  const body = operation.requestBody?.content['application/json']
  const parts = [
    `### ${title}`,
    `${operation.summary ?? ''}. ${operation.description ?? ''}`.trim(),
    table('parameter', (operation.parameters ?? []).map(ofParameter)),
    ...bodies(body?.schema),
    ...Object.entries(operation.responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, { content }]) => answer(status, content)),
    example(title, body?.examples),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** A body of several forms has a table for each. */
function bodies(schema: Schema | undefined): string[] {
  if (!schema) return []
  const forms = schema.anyOf ?? schema.oneOf ?? [schema]
  return forms.map((form, k) => {
    const head = forms.length > 1 ? `field of the body, form ${k + 1}` : 'field of the body'
    return table(head, fieldsOf(form, 3).map(ofField)) || `The body: ${spoken(form)}`
  })
}

function ofParameter({ name, in: place, required, description, schema }: Parameter): string[] {
  const where = place === 'query' ? '' : `, ${place}`
  return [
    `\`${name}\`${where}`,
    typeWith(schema, required === true && place !== 'path'),
    description ?? schema.description ?? '',
  ]
}

function ofField({ name, schema, required }: { name: string; schema: Schema; required: boolean }): string[] {
  return [`\`${name}\``, typeWith(schema, required), schema.description ?? '']
}

function typeWith(schema: Schema, required: boolean): string {
  const more = schema.default === undefined ? (required ? ', required' : '') : `; \`${short(schema.default)}\``
  return `${spoken(schema)}${more}`
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

function table(head: string, rows: string[][]): string {
  if (rows.length === 0) return ''
  return [`| ${head} | | |`, '|---|---|---|', ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`)].join('\n')
}

function answer(status: string, content: Content | undefined): string {
  const schema = content?.['application/json']?.schema
  const forms = schema ? (schema.anyOf ?? schema.oneOf ?? [schema]) : []
  const named = forms.map(
    (form) =>
      fieldsOf(form, 1)
        .map(({ name }) => `\`${name}\``)
        .join(', ') || spoken(form),
  )
  const what = named.length > 0 ? named.join('; or ') : (Object.keys(content ?? {})[0] ?? 'no body')
  return `**${status}**: ${what}`
}

function example(title: string, examples: Record<string, { value: unknown }> | undefined): string {
  const [first] = Object.values(examples ?? {})
  return first ? `\`\`\`json\n// ${title}\n${JSON.stringify(first.value, null, 2)}\n\`\`\`` : ''
}
