/** The error responses of the document: a component for each status. */
import { STATUS_CODES } from 'node:http'
import { ERROR_CODES, type ErrorCode } from '@reasoning-gym-server/contract/errors'
import { ERROR_TABLE } from '../errors/error-table.ts'

/** `NotFound` for 404, as HTTP names it. */
export function nameErrorResponse(status: number): string {
  return (STATUS_CODES[status] ?? `Status${status}`).replace(/\W/g, '')
}

/** Codes that do not depend on what the operation does. */
export const COMMON_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
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

export function describeCodes(codes: readonly string[]): string {
  const quoted = codes.map((code) => `\`${code}\``)
  const last = quoted.pop() ?? ''
  return `The code is ${quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last}.`
}
