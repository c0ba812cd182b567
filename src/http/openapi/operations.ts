/** Operations of the API document and their error responses, made from what a route declares: schemas, access, problems and examples. */

import { STATUS_CODES } from 'node:http'
import { ApiKeyRole } from '@reasoning-gym-server/contract/caller'
import { ERROR_CODES, type ErrorCode } from '@reasoning-gym-server/contract/errors'
import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { AccessRule } from '../auth/access-rule.ts'
import { ERROR_TABLE } from '../errors/error-table.ts'
import examples from './examples.json' with { type: 'json' }
import type { JsonSchema, SchemaComponents } from './schemas.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Error codes that only this route and its like can have. Those of access, limits, validation and Redis follow from the route. */
    problems?: readonly ErrorCode[]
  }
}

/** What a call of a session is sent with, and what it is answered. Path parameters have the examples of their schemas. */
interface RouteExamples {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  headers?: Record<string, string>
  /** By what they show. */
  bodies?: Record<string, unknown>
  response?: unknown
}

export interface DocumentedRoute {
  method: string
  url: string
  schema: FastifySchema
  rule: AccessRule
}

export interface Operation {
  operationId: string
  tags: string[]
  parameters: (Parameter | Reference)[]
  responses: Record<string, Response>
  [keyword: string]: unknown
}

interface Reference {
  $ref: string
}

export interface Parameter {
  in: string
  name: string
  required: boolean
  description: string
  schema: JsonSchema
  example?: unknown
}

interface Response {
  $ref?: string
  description?: string
  content?: Record<string, { schema: JsonSchema; example?: unknown }>
}

/** By operation. */
const EXAMPLES: Readonly<Record<string, RouteExamples>> = examples

const PLACES = { params: 'path', querystring: 'query', headers: 'header' } as const
const METHODS_THAT_CREATE_RUNS = new Set(['POST', 'PUT'])

export function buildOperation(route: DocumentedRoute, schemas: SchemaComponents): Operation {
  const { summary, description, operationId = '', tags = [], body } = route.schema
  const isOpen = route.rule.roles === 'anyone'
  const role = isOpen ? [] : [`Required role: ${formatRoles(route.rule.roles)}.`]
  const parameters = buildParameters(route, schemas)
  return {
    operationId,
    tags: [...tags],
    ...(summary !== undefined && { summary }),
    description: [...(description === undefined ? [] : [description]), ...role].join(' '),
    ...(isOpen && { security: [] }),
    parameters,
    ...(body instanceof z.ZodType && { requestBody: buildRequestBody(body, EXAMPLES[operationId], schemas) }),
    responses: { ...buildResponses(route.schema, schemas), ...buildProblemResponses(route, parameters) },
  }
}

/** Without `admin`, which may make every call, as the head of the document says. */
function formatRoles(roles: AccessRule['roles']): string {
  const quoted = [roles]
    .flat()
    .filter((role) => role !== 'admin')
    .map((role) => `\`${role}\``)
  if (quoted.length === ApiKeyRole.options.length - 1) return 'any'
  const last = quoted.pop() ?? '`admin`'
  return quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last
}

function buildParameters({ schema }: DocumentedRoute, schemas: SchemaComponents): Parameter[] {
  return Object.entries(PLACES).flatMap(([part, place]) => {
    const fields = schema[part as keyof typeof PLACES]
    if (!(fields instanceof z.ZodType)) return []
    const { properties = {}, required = [] } = schemas.convert(fields, 'input')
    const given = EXAMPLES[schema.operationId ?? '']?.[place === 'header' ? 'headers' : place] ?? {}
    return Object.entries(properties).map(([name, { description, examples, ...field }]) => {
      const component = schemas.get(field.$ref)
      const example = given[name] ?? (place === 'path' ? (component?.examples ?? examples)?.[0] : undefined)
      return {
        in: place,
        name,
        required: required.includes(name),
        description: description ?? component?.description ?? '',
        schema: field,
        ...(example !== undefined && { example }),
      }
    })
  })
}

function buildRequestBody(body: z.ZodType, examples: RouteExamples | undefined, schemas: SchemaComponents): object {
  const { description, ...schema } = schemas.convert(body, 'input')
  const named = Object.entries(examples?.bodies ?? {}).map(([summary, value]) => [
    summary.toLowerCase().replace(/\W+/g, '_'),
    { summary, value },
  ])
  return {
    ...(description !== undefined && { description }),
    required: !body.safeParse(undefined).success,
    content: { 'application/json': { schema, ...(named.length > 0 && { examples: Object.fromEntries(named) }) } },
  }
}

type DeclaredResponse = z.ZodType | { description: string; content: Record<string, { schema: z.ZodType }> }

function buildResponses(
  { response = {}, operationId = '' }: FastifySchema,
  schemas: SchemaComponents,
): Record<string, Response> {
  let example = EXAMPLES[operationId]?.response // of the first response that is JSON
  const declared = Object.entries(response as Record<string, DeclaredResponse>) // routes write them so
  return Object.fromEntries(
    declared.map(([status, one]) => {
      if (one instanceof z.ZodNull) return [status, { description: one.description ?? '' }]
      const { description = '', content } =
        one instanceof z.ZodType
          ? { description: one.description, content: { 'application/json': { schema: one } } }
          : one
      const types = Object.entries(content).map(([type, { schema }]) => {
        const { description: _, ...converted } = schemas.convert(schema, 'output')
        if (type !== 'application/json' || example === undefined) return [type, { schema: converted }] as const
        const own = example
        example = undefined
        return [type, { schema: converted, example: own }] as const
      })
      const [only, ...others] = types
      // Generators know no type for lines of JSON, and leave such a response out with a warning.
      if (only && others.length === 0 && only[1].schema.type === 'string' && only[0].startsWith('application/'))
        return [status, { description: `${description} Its media type is \`${only[0]}\`.` }]
      return [status, { description, content: Object.fromEntries(types) }]
    }),
  )
}

/**
 * A status is spelled out where it has a code that not every call can have; the description beside the reference then names
 * the codes of this operation. The rest are the default response: spelled out, they would be a fifth of the document.
 */
function buildProblemResponses(route: DocumentedRoute, parameters: Parameter[]): Record<string, Response> {
  const codes = new Set(listCodes(route, parameters))
  const byStatus = Map.groupBy(
    ERROR_CODES.filter((code) => codes.has(code)),
    (code) => ERROR_TABLE[code].status,
  )
  const special = [...byStatus].filter(([, listed]) => listed.some((code) => !COMMON_CODES.has(code)))
  const responses = special.map(([status, listed]) => {
    const $ref = `#/components/responses/${nameErrorResponse(status)}`
    return [String(status), { $ref, description: describeCodes(listed) }] as const
  })
  return { ...Object.fromEntries(responses), default: { $ref: '#/components/responses/Error' } }
}

/** The codes that follow from what a route has, and those that it names. */
function listCodes({ method, schema, rule }: DocumentedRoute, parameters: Parameter[]): ErrorCode[] {
  const codes: ErrorCode[] = ['invalid_request', 'redis_unavailable', ...(schema.problems ?? [])]
  if (method !== 'GET') codes.push('redis_full')
  if (rule.roles !== 'anyone') codes.push('unauthorized', 'forbidden', 'rate_limited', 'server_busy')
  if (schema.body) codes.push('invalid_json', 'request_timeout', 'body_too_large', 'unsupported_media_type')
  if (!parameters.some(({ name }) => name === 'if-match')) return codes
  codes.push('run_recreated')
  if (parameters.some(({ name }) => name === 'run') && !METHODS_THAT_CREATE_RUNS.has(method)) codes.push('unknown_run')
  return codes
}

/** `NotFound` for 404, as HTTP names it. */
function nameErrorResponse(status: number): string {
  return (STATUS_CODES[status] ?? `Status${status}`).replace(/\W/g, '')
}

/** Codes that do not depend on what the operation does. */
const COMMON_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'invalid_json',
  'unauthorized',
  'forbidden',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'headers_too_large',
  'rate_limited',
  'internal',
  'redis_unavailable',
  'redis_full',
  'server_busy',
])

/** By their names, for `components.responses`: that of the common codes, and each status that has a code of its own. */
export function buildErrorResponses(): Record<string, object> {
  const own = ERROR_CODES.filter((code) => !COMMON_CODES.has(code))
  const ownByStatus = Map.groupBy(own, (code) => ERROR_TABLE[code].status)
  return {
    Error: buildErrorResponse([...COMMON_CODES], 'Any other error.'),
    ...Object.fromEntries(
      [...ownByStatus].map(([status, codes]) => [
        nameErrorResponse(status),
        buildErrorResponse(codes, `${STATUS_CODES[status] ?? ''} (${status}).`),
      ]),
    ),
  }
}

function buildErrorResponse(codes: ErrorCode[], sentence: string): object {
  return {
    description: `${sentence} ${describeCodes(codes)}`,
    ...(codes.some((code) => ERROR_TABLE[code].retryAfter !== undefined) && {
      headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
    }),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}

function describeCodes(codes: readonly string[]): string {
  const quoted = codes.map((code) => `\`${code}\``)
  const last = quoted.pop() ?? ''
  return `The code is ${quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last}.`
}
