/**
 * Takes request bodies from the connection to a parsed value. A large body waits for a slot, a compressed one is decompressed, and
 * JSON is read and parsed within the limits of the route.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { TransferSlots } from '../../platform/transfer-slots.ts'
import { requestDecompression } from '../compression.ts'
import { jsonBodyParser } from './json-body-parser.ts'

/** Of a request whose route sets no limit. */
export const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024
/** Of requests with many completions, or with a checkpoint. */
export const LARGE_BODY_LIMIT_BYTES = 64 * 1024 * 1024

export const requestBodies = fastifyPlugin<{ slots: TransferSlots }>(
  async (app, { slots }) => {
    app.decorateRequest('bodySlots', { getter: () => slots })
    app.decorateRequest('bodyClosing', null as unknown as AbortController) // set before any parser runs
    app.decorateRequest('releaseBodySlot', undefined)
    app.decorateRequest('releaseBody', function releaseBody(this: FastifyRequest) {
      this.body = undefined
      this.releaseBodySlot?.()
    })
    app.addHook('onRequest', ({ raw, headers }, _reply, done) => {
      const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0
      if (hasBody && /^(?:GET|HEAD)$/.test(raw.method ?? '')) raw.resume() // nothing reads it, and Node would keep 64 KiB of it
      done()
    })
    app.addHook('preParsing', (request, reply, payload, done) => {
      request.bodyClosing = abortOnClose(reply)
      done(null, payload)
    })
    app.addHook('onSend', (request, _reply, payload, done) => {
      request.releaseBodySlot?.()
      done(null, payload)
    })
    await app.register(requestDecompression)
    await app.register(jsonBodyParser)
  },
  { name: 'request-bodies', dependencies: ['rate-limit', 'compression'] },
)

declare module 'fastify' {
  interface FastifyRequest {
    bodySlots: TransferSlots
    /** Aborted when the connection ends. */
    bodyClosing: AbortController
    /** undefined for small bodies. */
    releaseBodySlot: (() => void) | undefined
    /** Drops the body and makes room for another large one. */
    releaseBody(): void
  }
}

/** `abort` without an error makes a DOMException with its stack, which takes 13 µs. */
const CLOSED = new Error('The connection has ended')

function abortOnClose(reply: FastifyReply): AbortController {
  const closing = new AbortController()
  reply.raw.once('close', () => {
    closing.abort(CLOSED)
    reply.request.releaseBodySlot?.()
  })
  return closing
}
