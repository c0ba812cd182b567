import { PassThrough } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { readBodyBytes } from '../../../src/http/bodies/read-body.ts'
import { measureHeap } from '../../measure-heap.ts'

const LENGTH = 500_000

it('a body in chunks of one byte takes little more memory than its bytes', async () => {
  const payload = new PassThrough()
  const request = {
    headers: {},
    routeOptions: { bodyLimit: LENGTH },
    caller: {},
    bodySlots: { acquire: async () => () => {} },
    bodyClosing: new AbortController(),
  } as unknown as FastifyRequest
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  readBodyBytes(request, payload, (error, bytes) => (bytes ? resolve(Buffer.from(bytes)) : reject(error)))
  const before = measureHeap()
  for (let k = 0; k < LENGTH; k++) {
    if (!payload.write(Buffer.of(k % 256))) await new Promise((drained) => payload.once('drain', drained))
  }
  expect((measureHeap() - before) / LENGTH).toBeLessThan(10) // hundreds with a Buffer for each
  payload.end()
  expect((await promise).equals(Uint8Array.from({ length: LENGTH }, (_, k) => k))).toBe(true)
})
