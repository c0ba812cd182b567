/** Files and lines on the wire: streamed, in ranges where they stand still, compressed for those who take it. */
import { createReadStream } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { basename, dirname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import send from '@fastify/send'
import type { FastifyReply } from 'fastify'

const JSON_LINES_CONTENT_TYPE = 'application/x-ndjson'

/** Our reply, whatever its schemas say. */
type AnyReply = Pick<FastifyReply, 'header' | 'headers' | 'status' | 'send' | 'type'>

interface DownloadRequest {
  raw: IncomingMessage
  headers: IncomingHttpHeaders
}

/** A file of JSON lines: in the range that was asked for, else compressed if the caller takes that. */
export async function sendJsonLinesFile<Reply extends AnyReply>(
  path: string,
  { raw, headers }: DownloadRequest,
  reply: Reply,
) {
  reply.header('vary', 'accept-encoding').type(JSON_LINES_CONTENT_TYPE)
  if (raw.method === 'GET' && headers.range === undefined && acceptsGzip(headers)) {
    return reply.header('content-encoding', 'gzip').send(gzipStream(createReadStream(path)))
  }
  const file = await send(raw, basename(path), { root: dirname(path), contentType: false })
  reply.headers(file.headers).status(file.statusCode)
  if (file.statusCode === 416) return reply.send(null)
  return reply.send(file.stream)
}

/** Lines as they are made: no faster than the caller reads. */
export function sendJsonLines<Reply extends AnyReply>(
  lines: AsyncIterable<string>,
  { raw, headers }: DownloadRequest,
  reply: Reply,
) {
  reply.header('vary', 'accept-encoding').type(JSON_LINES_CONTENT_TYPE)
  const stream = Readable.from(lines, { objectMode: true, highWaterMark: 16 })
  if (raw.method !== 'GET' || !acceptsGzip(headers)) return reply.send(stream)
  return reply.header('content-encoding', 'gzip').send(gzipStream(stream))
}

function gzipStream(stream: Readable): Readable {
  const gzip = createGzip()
  pipeline(stream, gzip, () => {}) // an error ends both, and Fastify hears of it
  return gzip
}

function acceptsGzip(headers: IncomingHttpHeaders): boolean {
  return negotiate(String(headers['accept-encoding'] ?? ''), ['gzip']) === 'gzip'
}
