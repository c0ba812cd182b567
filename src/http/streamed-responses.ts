/** Responses that are sent as they are made: server-sent events, and JSON Lines, also of files and in ranges. */

import type { IncomingMessage } from 'node:http'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import send from '@fastify/send'
import { formatJsonLine } from '@reasoning-gym-server/codec/json-lines'
import type { FastifyReply } from 'fastify'

/** Headers of every event stream. */
const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // tells proxies not to buffer it
}

export function formatEvent(event: string, value: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`
}

/** Sends server-sent events as they occur. The next one is made once the listener has taken the last, so that none pile up. */
export function sendEventStream<Reply extends Pick<FastifyReply, 'headers' | 'send'>>(
  events: AsyncIterable<string>,
  reply: Reply,
) {
  return reply.headers(EVENT_STREAM_HEADERS).send(Readable.from(events, { objectMode: true, highWaterMark: 1 }))
}

/** A signal that aborts when the server begins to close, so that event streams end. */
export function createShutdownSignal(app: {
  addHook(name: 'preClose', hook: (done: () => void) => void): unknown
}): AbortSignal {
  const closing = new AbortController()
  app.addHook('preClose', (done) => {
    closing.abort()
    done()
  })
  return closing.signal
}

export const JSON_LINES_CONTENT_TYPE = 'application/x-ndjson'
/** Lines are sent in chunks of at least this many bytes, or after this time. */
const CHUNK_BYTES = 64 * 1024
const CHUNK_MS = 500

/** A reply of any route, without the types of its schemas. */
type AnyReply = Pick<FastifyReply, 'headers' | 'status' | 'send' | 'type'>

/** Answers `Range` and conditional requests. */
export async function sendJsonLinesFile<Reply extends AnyReply>(path: string, request: IncomingMessage, reply: Reply) {
  const file = await send(request, basename(path), { root: dirname(path), contentType: false })
  reply.headers(file.headers).status(file.statusCode).type(JSON_LINES_CONTENT_TYPE)
  return reply.send(file.statusCode === 200 || file.statusCode === 206 ? file.stream : null)
}

/**
 * Makes lines no faster than the client reads them, and each chunk in a slot of large replies. The first chunk is made
 * before the headers are sent, so that `server_busy` becomes a 503.
 */
export function sendJsonLines<Reply extends AnyReply & ReaderOfReply>(lines: AsyncIterable<string>, reply: Reply) {
  return reply.type(JSON_LINES_CONTENT_TYPE).send(Readable.from(makeChunks(lines, reply), { objectMode: false }))
}

/** One JSON object per line. */
export async function* formatJsonLines(values: AsyncIterable<object> | Iterable<object>): AsyncGenerator<string> {
  for await (const value of values) yield formatJsonLine(value)
}

/** Sends the pieces of one JSON document in the same way. */
export function sendJsonPieces<Reply extends AnyReply & ReaderOfReply>(pieces: AsyncIterable<string>, reply: Reply) {
  const body = Readable.from(makeChunks(pieces, reply), { objectMode: false })
  return reply.type('application/json; charset=utf-8').send(body)
}

/** Number of entries of a list or an object in one piece. */
const ENTRIES_PER_PIECE = 100

/** The JSON of a value in pieces, so that a document of many megabytes keeps no other call waiting. */
export async function* formatJsonPieces(value: unknown): AsyncGenerator<string> {
  if (Array.isArray(value) && value.length > ENTRIES_PER_PIECE) {
    yield* joinParts(value.length, (k, end) => JSON.stringify(value.slice(k, end)), '[]')
  } else if (typeof value !== 'object' || value === null || Array.isArray(value)) yield JSON.stringify(value)
  else {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
    if (entries.length > ENTRIES_PER_PIECE) {
      yield* joinParts(entries.length, (k, end) => JSON.stringify(Object.fromEntries(entries.slice(k, end))), '{}')
      return
    }
    yield '{'
    for (const [k, [name, inner]] of entries.entries()) {
      yield `${k > 0 ? ',' : ''}${JSON.stringify(name)}:`
      yield* formatJsonPieces(inner)
    }
    yield '}'
  }
}

function* joinParts(length: number, format: (first: number, end: number) => string, [open, close]: string) {
  yield open ?? ''
  for (let k = 0; k < length; k += ENTRIES_PER_PIECE) {
    yield `${k > 0 ? ',' : ''}${format(k, k + ENTRIES_PER_PIECE).slice(1, -1)}`
  }
  yield close ?? ''
}

type ReaderOfReply = Pick<FastifyReply, 'reader' | 'replySlots'>

async function* makeChunks(
  lines: AsyncIterable<string>,
  { reader, replySlots }: ReaderOfReply,
): AsyncGenerator<Buffer> {
  const iterator = lines[Symbol.asyncIterator]()
  try {
    for (let isDone = false; !isDone; ) {
      const release = await replySlots.acquire(reader)
      try {
        const chunk = await readChunk(iterator)
        isDone = chunk.isLast
        if (chunk.text !== '') yield Buffer.from(chunk.text)
      } finally {
        release()
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
