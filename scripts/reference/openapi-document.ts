/** The parts of the OpenAPI document that the reference pages show, with shared parameters, bodies and responses resolved. */
import { readFileSync } from 'node:fs'
import type { JsonSchema } from './schema.ts'

const DOCUMENT = new URL('../../openapi/openapi.json', import.meta.url)

export interface MediaContent {
  'application/json'?: {
    schema?: JsonSchema
    example?: unknown
    examples?: Record<string, { summary?: string; value: unknown }>
  }
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: JsonSchema
}

export interface Response {
  description?: string
  content?: MediaContent
}

export interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: { content: MediaContent }
  responses: Record<string, Response>
}

export interface OpenApiDocument {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> } & Record<string, Record<string, unknown>>
}

/** References to schemas stay, because the pages link to them. */
export function readOpenApiDocument(): OpenApiDocument {
  const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument // as the server wrote it
  return { ...document, paths: resolveShared(document.paths, document.components) as OpenApiDocument['paths'] } // the same shape
}

/** What stands beside a reference wins, as OpenAPI 3.1 has it for descriptions. */
function resolveShared(value: unknown, components: Record<string, Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return value.map((one) => resolveShared(one, components))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...rest } = value as { $ref?: unknown }
  const own = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, resolveShared(inner, components)]))
  if (typeof $ref !== 'string') return own
  const [, , section = '', name = ''] = $ref.split('/')
  if (section === 'schemas') return { $ref, ...own }
  const target = resolveShared(components[section]?.[name], components)
  return { ...(target as object), ...own } // a component is an object
}
