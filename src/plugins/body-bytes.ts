/** The bytes of a body. Most come in one piece, which is taken as it is: Fastify's own reading copies it. */
import type { FastifyRequest, RequestPayload } from 'fastify'
import { Fault } from '../faults.ts'
import { release } from '../release.ts'
import { scratch } from '../scratch.ts'

type Done = (fault: Error | null, bytes?: Buffer) => void

/**
 * Ends with `body_too_large` as soon as it is known. `payload` is the body as the hooks before have left it. The bytes are
 * there until `done` returns.
 */
export function readBytes({ headers, routeOptions }: FastifyRequest, payload: RequestPayload, done: Done): void {
  const limit = routeOptions.bodyLimit ?? 0
  if (Number(headers['content-length'] ?? 0) > limit) {
    done(tooLarge())
    return
  }
  const parts: Buffer[] = []
  let bytes = 0
  const end = (fault: Error | null) => {
    payload.off('data', take).off('end', finish).off('error', end)
    const [first] = parts
    if (fault) done(fault)
    else done(null, first && parts.length === 1 ? first : joined(parts, bytes))
    parts.forEach(release)
  }
  const take = (chunk: Buffer) => {
    bytes += chunk.byteLength
    if (bytes > limit) end(tooLarge())
    else parts.push(chunk)
  }
  const finish = () => end(null)
  payload.on('data', take).once('end', finish).once('error', end)
}

function joined(parts: Buffer[], bytes: number): Buffer {
  const all = scratch(bytes)
  let at = 0
  for (const part of parts) at += part.copy(all, at)
  return all
}

function tooLarge(): Fault {
  return new Fault('body_too_large', 'The body is larger than this address takes')
}
