/** JSON lines as responses: files, in ranges too, and lines that are sent as they are made. */
import type { IncomingMessage } from 'node:http'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import send from '@fastify/send'
import type { FastifyReply } from 'fastify'

const JSON_LINES_CONTENT_TYPE = 'application/x-ndjson'
/** Lines that are made ahead of a slow client. */
const LINES_AHEAD = 16

/** Our reply, whatever its schemas say. */
type AnyReply = Pick<FastifyReply, 'headers' | 'status' | 'send' | 'type'>

/** Answers `Range` and conditional requests. */
export async function sendJsonLinesFile<Reply extends AnyReply>(path: string, request: IncomingMessage, reply: Reply) {
  const file = await send(request, basename(path), { root: dirname(path), contentType: false })
  reply.headers(file.headers).status(file.statusCode).type(JSON_LINES_CONTENT_TYPE)
  return reply.send(file.statusCode === 200 || file.statusCode === 206 ? file.stream : null)
}

/** Lines are made no faster than the client reads them. */
export function sendJsonLines<Reply extends AnyReply>(lines: AsyncIterable<string>, reply: Reply) {
  return reply
    .type(JSON_LINES_CONTENT_TYPE)
    .send(Readable.from(lines, { objectMode: true, highWaterMark: LINES_AHEAD }))
}
