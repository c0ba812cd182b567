/** How long the server waits for a client, and what it says to one that it gives up on or cannot understand. */
import type { Socket } from 'node:net'
import { Fault } from '../faults.ts'
import { ownId } from './request-ids.ts'

export interface Patience {
  /** From the connection, or the last answer, to the end of the headers. */
  headersMs: number
  /** To the end of the body: 64 MiB at a little over half a megabyte a second. */
  requestMs: number
  /** Between two requests. Longer than usual proxies keep a connection, so that they are the ones to close it. */
  idleMs: number
  /** Without a byte in either direction, in the middle of a request: longer than any call takes to answer. */
  silentMs: number
}

export const PATIENCE: Patience = { headersMs: 20_000, requestMs: 120_000, idleMs: 75_000, silentMs: 600_000 }

/** Request line and headers together, in bytes; an item id in the URL has up to 2,048. */
const HEADERS_BYTES = 16 * 1024

/** Options of Fastify. */
export function patient({ headersMs, requestMs, idleMs, silentMs }: Patience) {
  return {
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionTimeout: silentMs,
    http: {
      headersTimeout: headersMs,
      maxHeaderSize: HEADERS_BYTES,
      connectionsCheckingInterval: Math.min(5000, headersMs),
    },
    clientErrorHandler: giveUp,
  }
}

/** The parser of HTTP failed, so no request or reply is there to answer with. */
function giveUp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const fault = faultOf(error)
  const body = JSON.stringify(fault.problem())
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${fault.status} ${REASONS[fault.status] ?? 'Bad Request'}\r\n` +
        `X-Request-Id: ${ownId()}\r\nContent-Type: application/problem+json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}

const REASONS: Record<number, string> = { 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }

function faultOf({ code, message }: NodeJS.ErrnoException): Fault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault('request_timeout', 'The request took too long to arrive')
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Fault('headers_too_large', `URL and headers together may have ${HEADERS_BYTES} bytes`)
  }
  return new Fault('invalid_request', `This is not HTTP: ${message}`)
}
