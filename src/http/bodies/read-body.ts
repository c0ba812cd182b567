/** Reads the bytes of a body. Most arrive in one chunk, which is passed on without the copy that Fastify's own reader makes. */

import { detachBuffer } from '@reasoning-gym-server/codec/detach-buffer'
import { sharedScratchBuffer } from '@reasoning-gym-server/codec/shared-scratch-buffer'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest, RequestPayload } from 'fastify'
import { getContentEncoding } from '../compression.ts'

type ReadBodyCallback = (error: Error | null, bytes?: Buffer) => void

/** Of a larger body, no more is read before it has a slot. */
const LARGE_BODY_BYTES = 64 * 1024
/** Chunks are joined in these numbers. They may have one byte each, and a Buffer takes hundreds. */
const JOINED_CHUNKS = 1024

/**
 * Fails with `body_too_large` as soon as the limit of the route is passed, counted after decompression; with `server_busy` or
 * `request_timeout` as platform/transfer-slots.ts says. `payload` is the body as the preParsing hooks left it. The bytes are valid
 * until `done` returns.
 */
export function readBodyBytes(request: FastifyRequest, payload: RequestPayload, done: ReadBodyCallback): void {
  const { headers, routeOptions } = request
  const encoding = getContentEncoding(request)
  const limit = routeOptions.bodyLimit ?? 0
  if (Number(headers['content-length'] ?? 0) > limit) {
    done(createBodyTooLargeError(limit))
    return
  }
  const parts: Buffer[] = []
  let joined = 0 // number of parts that are joined chunks
  let bytes = 0
  let [hasAsked, hasEnded] = [false, false]
  const end = (error: Error | null) => {
    hasEnded = true
    payload.off('data', take).off('end', finish).off('error', fail)
    const [first] = parts
    if (error) done(error)
    else done(null, first && parts.length === 1 ? first : concatIntoSharedBuffer(parts, bytes))
    parts.forEach(detachBuffer)
  }
  /** Discards the rest of the body. */
  const reject = (error: Error) => {
    if (hasEnded) return
    end(error)
    request.releaseBodySlot?.()
    if (encoding === undefined)
      payload.resume() // an uncompressed body is read to its end
    else payload.destroy() // stops decompression
  }
  const take = (chunk: Buffer) => {
    bytes += chunk.byteLength
    if (bytes > limit) return reject(createBodyTooLargeError(limit))
    parts.push(chunk)
    if (parts.length - joined === JOINED_CHUNKS) parts.push(Buffer.concat(parts.splice(joined++)))
    if (bytes > LARGE_BODY_BYTES && !hasAsked) void waitForSlot()
  }
  const waitForSlot = async () => {
    hasAsked = true
    payload.pause()
    try {
      const release = await request.bodySlots.acquire({
        caller: request.caller.id,
        countBytes: () => bytes,
        isIdle: () => hasEnded,
        closed: request.bodyClosing.signal,
        // Of a paused body, Node still keeps 64 KiB: in chunks of one byte, they take 46 MB of memory.
        mayWait: headers['content-length'] !== undefined && joined === 0,
        drop: () => reject(createSlowError()),
      })
      if (request.bodyClosing.signal.aborted) return release()
      request.releaseBodySlot = release
      payload.resume()
    } catch (error) {
      reject(error as Error) // as `acquire` documents
    }
  }
  const finish = () => end(null)
  const fail = (error: Error) => end(createBrokenBodyError(error, encoding))
  payload.on('data', take).once('end', finish).once('error', fail).resume()
}

function concatIntoSharedBuffer(parts: Buffer[], bytes: number): Buffer {
  const all = sharedScratchBuffer(bytes)
  let at = 0
  for (const part of parts) at += part.copy(all, at)
  return all
}

function createBodyTooLargeError(limit: number): ServiceError {
  return new ServiceError(
    'body_too_large',
    `The body has more than ${limit} bytes after decompression, which is the limit of this call. Send smaller requests.`,
  )
}

function createSlowError(): ServiceError {
  return new ServiceError(
    'request_timeout',
    'The body arrived too slowly while other large requests waited. Send it faster, or in smaller requests.',
  )
}

function createBrokenBodyError(cause: Error, encoding: string | undefined): ServiceError {
  const detail = encoding === undefined ? 'The body cannot be read' : `The body is not valid ${encoding}`
  return new ServiceError('invalid_request', `${detail}: ${cause.message}. Send it again, or uncompressed.`, { cause })
}
