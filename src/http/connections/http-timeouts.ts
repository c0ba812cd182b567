/** Timeouts for clients, and the responses to requests that time out or cannot be parsed. */
import type { Socket } from 'node:net'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { buildProblemReply } from '../errors/error-table.ts'
import { createRequestId } from '../observability/request-ids.ts'

export interface HttpTimeouts {
  /** From the connection, or the last response, to the end of the headers. */
  headersMs: number
  /** To the end of the body: 64 MiB at a little over half a megabyte per second. */
  requestMs: number
  /** Between two requests. Longer than the usual timeout of proxies, so that the proxy closes the connection. */
  keepAliveMs: number
  /** Without a byte in either direction during a request. Longer than any call takes to respond. */
  inactivityMs: number
}

export const DEFAULT_HTTP_TIMEOUTS: HttpTimeouts = {
  headersMs: 20_000,
  requestMs: 120_000,
  keepAliveMs: 75_000,
  inactivityMs: 600_000,
}

/** Request line and headers together, in bytes; an item id in the URL has up to 2,048. */
const MAX_HEADER_BYTES = 16 * 1024

/** Options of Fastify. */
export function buildTimeoutOptions({
  headersMs,
  requestMs,
  keepAliveMs: idleMs,
  inactivityMs: silentMs,
}: HttpTimeouts) {
  return {
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionTimeout: silentMs,
    http: {
      headersTimeout: headersMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: Math.min(5000, headersMs),
    },
    clientErrorHandler: handleClientError,
  }
}

/** Responds on the socket: when the HTTP parser fails, there is no request or reply object. */
function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { status, document } = buildProblemReply(parserErrorToServiceError(error))
  const body = JSON.stringify(document)
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${REASON_PHRASES[status] ?? 'Bad Request'}\r\n` +
        `X-Request-Id: ${createRequestId()}\r\nContent-Type: application/problem+json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}

const REASON_PHRASES: Record<number, string> = { 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }

function parserErrorToServiceError({ code, message }: NodeJS.ErrnoException): ServiceError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ServiceError(
      'request_timeout',
      'The request did not arrive in time. Send it again, faster or in smaller parts.',
    )
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ServiceError(
      'headers_too_large',
      `The URL and headers together have more than the limit of ${MAX_HEADER_BYTES} bytes. Shorten them.`,
    )
  }
  return new ServiceError(
    'invalid_request',
    `The request is not valid HTTP: ${message}. Check the client and any proxy in between.`,
  )
}
