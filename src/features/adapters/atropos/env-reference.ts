/**
 * Reads which environment asks for its status: Atropos's clients send it in the body of a GET, which Fastify does not
 * read.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest } from 'fastify'
import { parseJsonBytes } from '../../../http/bodies/json-body-parser.ts'
import { EnvironmentReference } from './wire.ts'

const MAX_BODY_BYTES = 1024

/** Reads the ID from the query, or otherwise from the body. Throws `invalid_request`. */
export async function readEnvironmentId({ query, raw }: FastifyRequest): Promise<number> {
  const named = typeof query === 'object' && query !== null ? Reflect.get(query, 'env_id') : undefined
  if (typeof named === 'number') return named
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of raw) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.byteLength
    if (bytes > MAX_BODY_BYTES) throw createMissingError()
    chunks.push(chunk)
  }
  const body = bytes === 0 ? undefined : parseJsonBytes(Buffer.concat(chunks))
  const { data } = EnvironmentReference.safeParse(body)
  if (!data) throw createMissingError()
  return data.env_id
}

function createMissingError(): ServiceError {
  return new ServiceError('invalid_request', 'Send {"env_id": N} as the body, or ?env_id=N')
}
