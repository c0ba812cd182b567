/** Error codes of the API, the error that carries one, and the problem document (RFC 9457): the body of every failed call. http/errors/error-table.ts maps codes to HTTP. */
import { z } from 'zod'

export const ERROR_CODES = [
  'invalid_request',
  'invalid_json',
  'invalid_config',
  'invalid_item_id',
  'seed_reserved',
  'index_out_of_range',
  'make_failed',
  'unauthorized',
  'forbidden',
  'unknown_task',
  'unknown_run',
  'unknown_group',
  'unknown_batch',
  'unknown_eval',
  'unknown_collection',
  'unknown_rescore',
  'unknown_suite',
  'unknown_dump',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'engine_version_mismatch',
  'task_code_conflict',
  'group_conflict',
  'step_conflict',
  'step_unavailable',
  'too_many_open_batches',
  'batch_acknowledged',
  'dump_elsewhere',
  'would_restart',
  'run_changed',
  'idempotency_in_progress',
  'run_recreated',
  'run_exists',
  'headers_too_large',
  'rate_limited',
  'too_many_active',
  'buffer_full',
  'engine_unavailable',
  'redis_unavailable',
  'redis_full',
  'server_busy',
  'items_not_ready',
  'make_timeout',
  'make_out_of_memory',
  'internal',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** One invalid field of a request: its path, and what is wrong with it. */
export interface FieldError {
  path: string
  message: string
}

/** What a request can name that does not exist. */
export const RESOURCE_KINDS = [
  'task',
  'category',
  'run',
  'group',
  'batch',
  'eval',
  'collection',
  'rescore',
  'suite',
  'dump',
] as const

/** What a request named although it does not exist, for clients that suggest another name. */
export interface MissingResource {
  kind: (typeof RESOURCE_KINDS)[number]
  /** The name or ID as the request gave it; the step of a batch. */
  name: string
}

interface ServiceErrorOptions {
  errors?: FieldError[]
  missing?: MissingResource
  cause?: unknown
  /** Seconds until a retry makes sense, if the error knows better than the default of its code. */
  retryAfter?: number
}

/** A failure with an error code of the API. `detail` says what happened and what the caller can do. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly errors: FieldError[]
  readonly missing: MissingResource | undefined
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, { cause: options.cause })
    this.code = code
    this.errors = options.errors ?? []
    this.missing = options.missing
    this.retryAfter = options.retryAfter
  }
}

/** Of calls that may make an item again. */
export const REMAKE_CODES = [
  'engine_version_mismatch',
  'task_code_conflict',
  'engine_unavailable',
  'make_timeout',
  'make_out_of_memory',
] as const satisfies readonly ErrorCode[]

const TEMPORARY_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'engine_unavailable',
  'redis_unavailable',
  'redis_full',
  'server_busy',
  'items_not_ready',
  'make_timeout',
  'make_out_of_memory',
])

/** Whether the failure is on our side and temporary, so that a retry makes sense. */
export function isTemporaryFailure(error: unknown): error is ServiceError {
  return error instanceof ServiceError && TEMPORARY_CODES.has(error.code)
}

export const Problem = z
  .strictObject({
    type: z.string().describe('URN of the error code: `urn:reasoning-gym-server:CODE`.'),
    title: z.string().describe('Meaning of the error code, in one sentence.'),
    status: z.int().min(400).max(599).describe('HTTP status.'),
    code: z.enum(ERROR_CODES).meta({ id: 'ErrorCode', description: 'Stable error code.' }),
    detail: z.string().describe('What happened in this call, and what to do about it.'),
    errors: z
      .array(
        z
          .strictObject({
            path: z.string().describe('Path of the field, such as `body.step`.'),
            message: z.string().describe('What is wrong with the field.'),
          })
          .describe('An invalid field of the request.'),
      )
      .optional()
      .describe('Invalid fields of the request, if there are any.'),
    kind: z.enum(RESOURCE_KINDS).optional().describe('What the request names that does not exist, after such a 404.'),
    name: z
      .string()
      .optional()
      .describe('Its name or ID as the request gave it; the step of a batch. Set with `kind`.'),
  })
  .meta({ id: 'Problem', description: 'Why a call failed (RFC 9457). The `code` is stable.' })

/** Schemas of IDs that only the server assigns. An ID that it cannot have assigned gets this 404 code, like a deleted one. */
export const NOT_FOUND_CODES = z.registry<{ code: ErrorCode; kind: MissingResource['kind'] }>()
