/**
 * Limits how many large replies are in progress. A reply that is made as a whole waits for a slot before it is sent, and goes out
 * in slices, so that a slow client can be distinguished from one that reads. Routes that stream acquire slots themselves, on behalf
 * of `reply.reader`.
 */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Transfer, TransferSlots } from '../../platform/transfer-slots.ts'

/** Smaller replies are not counted: the kernel takes them at once. */
const LARGE_REPLY_BYTES = 256 * 1024
const SLICE_BYTES = 64 * 1024

declare module 'fastify' {
  interface FastifyReply {
    /** The client of this reply. */
    reader: Transfer
    replySlots: TransferSlots
  }
}

export const largeReplies = fastifyPlugin<{ slots: TransferSlots }>(
  async (app, { slots }) => {
    const readers = new WeakMap<FastifyReply, Transfer>()
    app.decorateReply('replySlots', { getter: () => slots })
    app.decorateReply('reader', {
      getter(this: FastifyReply) {
        const reader = readers.get(this) ?? createReader(this)
        readers.set(this, reader)
        return reader
      },
    })
    app.addHook('onSend', (request, reply, payload, done) => {
      if (!isLarge(payload) || request.method === 'HEAD') return done(null, payload)
      const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
      sendInSlot(reply, bytes).then((stream) => done(null, stream), done)
    })

    async function sendInSlot(reply: FastifyReply, bytes: Buffer): Promise<Readable> {
      const { closed } = reply.reader
      const release = await slots.acquire(reply.reader)
      if (closed.aborted) release()
      else closed.addEventListener('abort', release, { once: true })
      reply.header('content-length', bytes.byteLength)
      return Readable.from(cutIntoSlices(bytes), { objectMode: false, highWaterMark: SLICE_BYTES })
    }
  },
  { name: 'large-replies' },
)

function isLarge(payload: unknown): payload is string | Buffer {
  return (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length > LARGE_REPLY_BYTES
}

function createReader({ raw, request }: FastifyReply): Transfer {
  const { socket } = request.raw
  const closing = new AbortController()
  raw.once('close', () => closing.abort()) // `finished` would add two listeners, and Node warns of the eleventh
  if (raw.destroyed) closing.abort()
  return {
    get caller() {
      return request.caller.id // unknown before authentication
    },
    closed: closing.signal,
    countBytes: () => (socket.bytesWritten ?? 0) - (socket.writableLength ?? 0), // an injected request has another socket
    isIdle: () => raw.writableLength === 0,
    drop: () => raw.destroy(),
  }
}

function* cutIntoSlices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}
