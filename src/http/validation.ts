/** Validates requests and serializes responses with zod. An invalid request is rejected with an error for each invalid field. */

import {
  type ErrorCode,
  type MissingResource,
  NOT_FOUND_CODES,
  ServiceError,
} from '@reasoning-gym-server/contract/errors'
import type { FastifyServerOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { formatFieldErrors, formatIssueMessage } from './errors/field-errors.ts'

/** Parses common bodies exactly as the schema would, which a test searches for; undefined for all others, valid or not. */
type FastParser = (value: unknown) => object | undefined
export const FAST_PARSERS = new Map<z.ZodType, FastParser>()

/** For bodies with thousands of entries, on which zod takes as long as scoring. */
export function withFastParser<Schema extends z.ZodType>(schema: Schema, pass: FastParser): Schema {
  FAST_PARSERS.set(schema, pass)
  return schema
}

const PARSED_IN_HANDLER = new Set<z.ZodType>()

/** For a body of many megabytes, which the handler parses with the same schema, some of it at a time. */
export function withParserInHandler<Schema extends z.ZodType>(schema: Schema): Schema {
  PARSED_IN_HANDLER.add(schema)
  return schema
}

const EmptyQuery = z.strictObject({})
/** For probes and scrapers, which may add parameters such as `?t=…`: a rejected probe would make the server look dead. */
export const AnyQuery = z.looseObject({})

type CompilersFactory = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

/** An option of Fastify, whose own compilers of JSON Schema are then not loaded: 0.15 s of processor time at each start. */
export const schemaController = {
  compilersFactory: {
    buildValidator: () => compileValidator,
    buildSerializer: () => compileSerializer,
  } as unknown as CompilersFactory, // its types know JSON Schema only
}

export const validation = fastifyPlugin(
  async (app) => {
    // A route without a query schema accepts no query: a misplaced body field would otherwise be ignored silently.
    app.addHook('onRoute', ({ schema }) => {
      if (schema && !schema.hide) schema.querystring ??= EmptyQuery
    })
    app.setValidatorCompiler(compileValidator)
    app.setSerializerCompiler(compileSerializer)
  },
  { name: 'validation' },
)

export function compileValidator({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) {
  return (value: unknown): { value: unknown } | { error: ServiceError } => {
    if (PARSED_IN_HANDLER.has(schema) && typeof value === 'object' && value !== null) return { value }
    const fastParsed = FAST_PARSERS.get(schema)?.(value)
    if (fastParsed) return { value: fastParsed }
    const parsed = schema.safeParse(value ?? (httpPart === 'body' ? undefined : {}), { error: formatIssueMessage })
    if (parsed.success) return { value: parsed.data }
    const unknown = findUnknownName(schema, value, parsed.error, httpPart)
    return { error: createValidationError(parsed.error, httpPart ?? 'body', unknown) }
  }
}

interface UnknownName {
  code: ErrorCode
  missing: MissingResource
}

/** The 404 for a URL whose first invalid field is an ID that the server cannot have assigned. */
function findUnknownName(
  schema: z.ZodType,
  value: unknown,
  { issues }: z.ZodError,
  part: string | undefined,
): UnknownName | undefined {
  const field = String(issues[0]?.path[0])
  if (part === 'body' || !(schema instanceof z.ZodObject)) return undefined
  const { [field]: fieldSchema } = schema.shape as Record<string, z.ZodType>
  const notFound = issues[0]?.code === 'invalid_format' && fieldSchema ? NOT_FOUND_CODES.get(fieldSchema) : undefined
  if (notFound === undefined) return undefined
  const { [field]: name } = value as Record<string, unknown> // zod read the field from it
  return { code: notFound.code, missing: { kind: notFound.kind, name: String(name) } }
}

export function createValidationError(
  error: Pick<z.ZodError, 'issues'>,
  part: string,
  unknown?: UnknownName,
): ServiceError {
  const errors = formatFieldErrors(error.issues, part)
  const [first] = errors
  const detail = first ? `${first.path}: ${first.message}` : 'The request is invalid'
  return new ServiceError(unknown?.code ?? 'invalid_request', detail, {
    errors,
    ...(unknown && { missing: unknown.missing }),
  })
}

const MAX_LOGGED_ISSUES = 5

interface SerializedRoute {
  schema: z.ZodType
  method: string
  url: string
  httpStatus?: string
}

/**
 * Serializes responses through the schemas that document them. The schemas are strict: a response with an unknown field
 * becomes a 500 with a log line, and the field is not sent.
 */
function compileSerializer({ schema, method, url, httpStatus }: SerializedRoute): (value: unknown) => string {
  return (value) => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return JSON.stringify(parsed.data)
    const issues = parsed.error.issues.slice(0, MAX_LOGGED_ISSUES)
    throw new TypeError(
      `The response ${httpStatus ?? ''} of ${method} ${url} does not match its schema: ${z.prettifyError({ issues })}`,
    )
  }
}

/**
 * For the routes where parsing the response would cost as much as the work itself: POST /score, POST /rollouts and batches.
 * test/routes/hot-responses.test.ts parses their responses instead.
 */
export const uncheckedSerializer = () => (value: unknown) => JSON.stringify(value)
