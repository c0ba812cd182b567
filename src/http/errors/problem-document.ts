/** Builds the HTTP response for an error: a problem document (RFC 9457) with status and headers. */
import type { ServiceError } from '@reasoning-gym-server/contract/errors'
import { ERROR_TABLE } from './error-table.ts'

export interface ProblemReply {
  status: number
  headers: Record<string, string>
  document: Record<string, unknown>
}

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
      detail: error.message,
      ...(error.errors.length > 0 && { errors: error.errors }),
      ...error.missing,
    },
  }
}
