/** Maps each error code to HTTP by `error-table.json`: status, title, remedy and default `Retry-After`; and builds the response for an error. */
import type { ErrorCode, ServiceError } from '@reasoning-gym-server/contract/errors'
import table from './error-table.json' with { type: 'json' }

interface ErrorTableRow {
  status: number
  title: string
  /** What the caller can do about it: for the documentation. */
  remedy: string
  /** In seconds. Every 429 and 503 has one, and every 409 that a retry resolves. */
  retryAfter?: number
}

export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorTableRow>> = table

interface ProblemReply {
  status: number
  headers: Record<string, string>
  document: Record<string, unknown>
}

/** A problem document (RFC 9457) with status and headers. */
export function buildProblemReply(error: ServiceError): ProblemReply {
  const { status, title, retryAfter: defaultRetryAfter } = ERROR_TABLE[error.code]
  const retryAfter = error.retryAfter ?? defaultRetryAfter
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    document: {
      type: `urn:reasoning-gym-server:${error.code}`,
      title,
      status,
      code: error.code,
      detail: /[.?!…]$/.test(error.message) ? error.message : `${error.message}.`,
      ...(error.errors.length > 0 && { errors: error.errors }),
      ...error.missing,
    },
  }
}
