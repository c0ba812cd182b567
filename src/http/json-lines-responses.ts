/** JSON Lines responses: files, also in ranges, and lines that are sent as they are made. */
import type { IncomingMessage } from 'node:http'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import send from '@fastify/send'
import type { FastifyReply } from 'fastify'

export const JSON_LINES_CONTENT_TYPE = 'application/x-ndjson'
/** Lines are sent in chunks of at least this many bytes, or after this time. */
const CHUNK_BYTES = 64 * 1024
const CHUNK_MS = 500
/** Memory reserved for making a chunk, including the unpacked groups that it is made from. */
const CHUNK_MEMORY_BYTES = 4 * 1024 * 1024
/** No reply of lines takes a larger part of the memory for replies. */
const MAX_MEMORY_SHARE = 1 / 16

/** A reply of any route, without the types of its schemas. */
type AnyReply = Pick<FastifyReply, 'headers' | 'status' | 'send' | 'type'>

/** Answers `Range` and conditional requests. */
export async function sendJsonLinesFile<Reply extends AnyReply>(path: string, request: IncomingMessage, reply: Reply) {
  const file = await send(request, basename(path), { root: dirname(path), contentType: false })
  reply.headers(file.headers).status(file.statusCode).type(JSON_LINES_CONTENT_TYPE)
  return reply.send(file.statusCode === 200 || file.statusCode === 206 ? file.stream : null)
}

/**
 * Makes lines no faster than the client reads them, and each chunk within the memory for replies. The first chunk is made
 * before the headers are sent, so that `server_busy` becomes a 503.
 */
export function sendJsonLines<Reply extends AnyReply & ReaderOfReply>(lines: AsyncIterable<string>, reply: Reply) {
  return reply.type(JSON_LINES_CONTENT_TYPE).send(Readable.from(makeChunks(lines, reply), { objectMode: false }))
}

type ReaderOfReply = Pick<FastifyReply, 'reader' | 'replyMemory'>

async function* makeChunks(
  lines: AsyncIterable<string>,
  { reader, replyMemory }: ReaderOfReply,
): AsyncGenerator<Buffer> {
  const iterator = lines[Symbol.asyncIterator]()
  const bytes = Math.min(CHUNK_MEMORY_BYTES, replyMemory.limitBytes * MAX_MEMORY_SHARE)
  try {
    for (let isDone = false; !isDone; ) {
      const reservation = replyMemory.reserve(bytes)
      let release = () => {}
      try {
        await replyMemory.waitFor(reader, reservation.granted)
        release = replyMemory.hold(reader)
        const chunk = await readChunk(iterator)
        isDone = chunk.isLast
        if (chunk.text !== '') yield Buffer.from(chunk.text)
      } finally {
        release()
        reservation.release()
      }
    }
  } finally {
    await iterator.return?.()
  }
}

async function readChunk(lines: AsyncIterator<string>): Promise<{ text: string; isLast: boolean }> {
  let text = ''
  const deadline = performance.now() + CHUNK_MS
  while (text.length < CHUNK_BYTES && (text === '' || performance.now() < deadline)) {
    const { value, done } = await lines.next()
    if (done) return { text, isLast: true }
    text += value
  }
  return { text, isLast: false }
}
