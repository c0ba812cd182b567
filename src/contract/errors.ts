/** Every failure that a client can meet: one table of codes, and the error that carries one of them. */

interface ErrorDefinition {
  status: number
  title: string
}

export const ERROR_DEFINITIONS = {
  invalid_request: { status: 400, title: 'The request does not have the documented shape' },
  invalid_json: { status: 400, title: 'The body is not JSON' },
  invalid_config: { status: 400, title: 'The task refuses this config' },
  invalid_item_id: { status: 400, title: 'The item id cannot be read' },
  seed_reserved: { status: 400, title: 'seed + index reaches into the range of training and eval items' },
  index_out_of_range: { status: 400, title: 'The task has no item with this index' },
  unauthorized: { status: 401, title: 'The call needs a key' },
  forbidden: { status: 403, title: 'This key may not do that' },
  unknown_task: { status: 404, title: 'There is no such task' },
  unknown_run: { status: 404, title: 'There is no such run' },
  unknown_group: { status: 404, title: 'There is no such group' },
  unknown_batch: { status: 404, title: 'There is no such batch' },
  unknown_eval: { status: 404, title: 'There is no such eval' },
  unknown_suite: { status: 404, title: 'There is no such suite' },
  unknown_dump: { status: 404, title: 'There is no such dump' },
  not_found: { status: 404, title: 'There is nothing at this address' },
  method_not_allowed: { status: 405, title: 'This address does not take this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  body_too_large: { status: 413, title: 'The body is larger than the server takes' },
  unsupported_media_type: { status: 415, title: 'The body is not of a type that the server reads' },
  engine_version_mismatch: { status: 409, title: 'The item was made by another version of the library' },
  group_conflict: { status: 409, title: 'This group id stands for other content' },
  too_many_open_batches: { status: 409, title: 'Too many batches wait for their acknowledgement' },
  batch_acknowledged: { status: 409, title: 'The batch of this step is acknowledged and gone' },
  dump_elsewhere: { status: 409, title: 'Another node has this file' },
  would_restart: { status: 409, title: 'The change would restart the run’s sequence of items' },
  headers_too_large: { status: 431, title: 'URL and headers are larger than the server takes' },
  rate_limited: { status: 429, title: 'This key asks for too much' },
  buffer_full: { status: 429, title: 'The run’s buffer is full' },
  engine_unavailable: { status: 503, title: 'The engine cannot work now' },
  redis_unavailable: { status: 503, title: 'Redis cannot be reached' },
  redis_full: { status: 503, title: 'Redis has no memory left' },
  items_not_ready: { status: 503, title: 'No item is ready yet' },
  make_timeout: { status: 503, title: 'The item took longer to make than the deadline' },
  internal: { status: 500, title: 'The server failed; the log has the reason' },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorCode = keyof typeof ERROR_DEFINITIONS

/** One field at fault: where, and what was expected. */
export interface FieldError {
  path: string
  message: string
}

interface ServiceErrorOptions {
  errors?: FieldError[]
  cause?: unknown
  /** Seconds after which to ask again; every 429 and 503 has one. */
  retryAfter?: number
}

/** A failure with a code from the table; `detail` says what to do about it. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly errors: FieldError[]
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, { cause: options.cause })
    this.code = code
    this.errors = options.errors ?? []
    const { status } = ERROR_DEFINITIONS[code]
    this.retryAfter = options.retryAfter ?? (status === 429 || status === 503 ? 1 : undefined)
  }

  get status(): number {
    return ERROR_DEFINITIONS[this.code].status
  }

  /** The problem document of RFC 9457. */
  toProblemDocument(): Record<string, unknown> {
    return {
      type: `urn:reasoning-gym-server:${this.code}`,
      title: ERROR_DEFINITIONS[this.code].title,
      status: this.status,
      code: this.code,
      detail: this.message,
      ...(this.errors.length > 0 && { errors: this.errors }),
    }
  }
}
