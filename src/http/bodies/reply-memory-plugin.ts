/**
 * Puts large replies under the memory limit for replies. A reply that is made as a whole waits for memory before it is sent,
 * and goes out in slices, so that a slow client can be distinguished from one that reads. Routes that stream reserve memory
 * themselves, on behalf of `reply.reader`.
 */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { DownloadLimiter, ReplyReader } from '../../platform/client-memory/download-limiter.ts'

/** Smaller replies are not counted: the kernel takes them at once. */
const LARGE_REPLY_BYTES = 256 * 1024
const SLICE_BYTES = 64 * 1024

declare module 'fastify' {
  interface FastifyReply {
    /** The client of this reply. */
    reader: ReplyReader
    replyMemory: DownloadLimiter
  }
}

export const replyMemoryPlugin = fastifyPlugin<{ replyMemory: DownloadLimiter }>(
  async (app, { replyMemory }) => {
    const readers = new WeakMap<FastifyReply, ReplyReader>()
    app.decorateReply('replyMemory', { getter: () => replyMemory })
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
      sendWithinLimit(reply, bytes).then((stream) => done(null, stream), done)
    })

    async function sendWithinLimit(reply: FastifyReply, bytes: Buffer): Promise<Readable> {
      const { reader } = reply
      replyMemory.assertQueueHasSpace(bytes.byteLength) // a reply that waits is in memory already
      const reservation = replyMemory.reserve(bytes.byteLength)
      await replyMemory.waitFor(reader, reservation.granted).catch((error: unknown) => {
        reservation.release()
        throw error
      })
      const release = replyMemory.hold(reader)
      onClosed(reader, () => {
        release()
        reservation.release()
      })
      reply.header('content-length', bytes.byteLength)
      return Readable.from(cutIntoSlices(bytes), { objectMode: false, highWaterMark: SLICE_BYTES })
    }
  },
  { name: 'reply-memory' },
)

function isLarge(payload: unknown): payload is string | Buffer {
  return (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length > LARGE_REPLY_BYTES
}

function createReader({ raw, request }: FastifyReply): ReplyReader {
  const { socket } = request.raw
  const closing = new AbortController()
  raw.once('close', () => closing.abort()) // `finished` would add two listeners, and Node warns of the eleventh
  if (raw.destroyed) closing.abort()
  return {
    closed: closing.signal,
    takenBytes: () => (socket.bytesWritten ?? 0) - (socket.writableLength ?? 0), // an injected request has another socket
    isIdle: () => raw.writableLength === 0,
    drop: () => raw.destroy(),
  }
}

function onClosed({ closed }: ReplyReader, act: () => void): void {
  if (closed.aborted) act()
  else closed.addEventListener('abort', act, { once: true })
}

function* cutIntoSlices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}
