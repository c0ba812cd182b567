/** The bytes of a body. Most come in one piece, which is taken as it is: Fastify's own reading copies it. */
import type { FastifyRequest, RequestPayload } from 'fastify'
import { detachBuffer } from '../../codec/detach-buffer.ts'
import { sharedScratchBuffer } from '../../codec/shared-scratch-buffer.ts'
import { ServiceError } from '../../contract/errors.ts'

type ReadBodyCallback = (fault: Error | null, bytes?: Buffer) => void

/**
 * Ends with `body_too_large` as soon as it is known. `payload` is the body as the hooks before have left it. The bytes are
 * there until `done` returns.
 */
export function readBodyBytes(
  { headers, routeOptions }: FastifyRequest,
  payload: RequestPayload,
  done: ReadBodyCallback,
): void {
  const limit = routeOptions.bodyLimit ?? 0
  if (Number(headers['content-length'] ?? 0) > limit) {
    done(createBodyTooLargeError())
    return
  }
  const parts: Buffer[] = []
  let bytes = 0
  const end = (fault: Error | null) => {
    payload.off('data', take).off('end', finish).off('error', end)
    const [first] = parts
    if (fault) done(fault)
    else done(null, first && parts.length === 1 ? first : concatIntoSharedBuffer(parts, bytes))
    parts.forEach(detachBuffer)
  }
  const take = (chunk: Buffer) => {
    bytes += chunk.byteLength
    if (bytes > limit) end(createBodyTooLargeError())
    else parts.push(chunk)
  }
  const finish = () => end(null)
  payload.on('data', take).once('end', finish).once('error', end)
}

function concatIntoSharedBuffer(parts: Buffer[], bytes: number): Buffer {
  const all = sharedScratchBuffer(bytes)
  let at = 0
  for (const part of parts) at += part.copy(all, at)
  return all
}

function createBodyTooLargeError(): ServiceError {
  return new ServiceError('body_too_large', 'The body is larger than this address takes')
}
