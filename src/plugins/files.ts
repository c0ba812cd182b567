/** Files and lines on the wire: streamed, in ranges where they stand still, compressed for those who take it. */
import { createReadStream } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { basename, dirname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import send from '@fastify/send'
import type { FastifyReply } from 'fastify'

const JSON_LINES = 'application/x-ndjson'

/** Our reply, whatever its schemas say. */
type AnyReply = Pick<FastifyReply, 'header' | 'headers' | 'status' | 'send' | 'type'>

interface Asker {
  raw: IncomingMessage
  headers: IncomingHttpHeaders
}

/** A file of JSON lines: in the range that was asked for, else compressed if the caller takes that. */
export async function sendFile<Reply extends AnyReply>(path: string, { raw, headers }: Asker, reply: Reply) {
  reply.header('vary', 'accept-encoding').type(JSON_LINES)
  if (raw.method === 'GET' && headers.range === undefined && takesGzip(headers)) {
    return reply.header('content-encoding', 'gzip').send(compressed(createReadStream(path)))
  }
  const file = await send(raw, basename(path), { root: dirname(path), contentType: false })
  reply.headers(file.headers).status(file.statusCode)
  if (file.statusCode === 416) return reply.send(null)
  return reply.send(file.stream)
}

/** Lines as they are made: no faster than the caller reads. */
export function sendLines<Reply extends AnyReply>(lines: AsyncIterable<string>, { raw, headers }: Asker, reply: Reply) {
  reply.header('vary', 'accept-encoding').type(JSON_LINES)
  const stream = Readable.from(lines, { objectMode: true, highWaterMark: 16 })
  if (raw.method !== 'GET' || !takesGzip(headers)) return reply.send(stream)
  return reply.header('content-encoding', 'gzip').send(compressed(stream))
}

function compressed(stream: Readable): Readable {
  const gzip = createGzip()
  pipeline(stream, gzip, () => {}) // an error ends both, and Fastify hears of it
  return gzip
}

function takesGzip(headers: IncomingHttpHeaders): boolean {
  return negotiate(String(headers['accept-encoding'] ?? ''), ['gzip']) === 'gzip'
}
