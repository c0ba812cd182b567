/**
 * Sends data sets as responses. A short one is made as a whole and has a length and byte ranges, which data loaders
 * need to read it as a stream; a long one is sent as it is made. Compressed ones are always sent as they are made,
 * because a decompressor needs no ranges.
 */
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { JSON_LINES_CONTENT_TYPE, sendJsonLines } from '../../../http/streamed-responses.ts'
import type { Dataset } from './datasets.ts'

export const GZIP_CONTENT_TYPE = 'application/gzip'
export const MAX_WHOLE_ROWS = 1024
const WHOLE_CACHE_BYTES = 16 * 1024 * 1024
const RANGE_PATTERN = /^bytes=(\d{1,15})-(\d{1,15})?$/

/** Short data sets, keyed by entity tag, because a data loader requests one several times. */
const WHOLE_CACHE = new LRUCache<string, Buffer>({
  max: 64,
  maxSize: WHOLE_CACHE_BYTES,
  sizeCalculation: ({ length }) => length + 1,
})

/** The reply, independent of its schemas. */
type AnyReply = Parameters<typeof sendJsonLines>[1]

type DatasetRequest = Pick<FastifyRequest, 'method' | 'headers'>

/**
 * Sends a data set. The first rows are made before the headers are sent, so that a failure to make them has a status.
 */
export async function sendDataset<Reply extends AnyReply>(dataset: Dataset, request: DatasetRequest, reply: Reply) {
  const { entityTag, rows, openLines } = dataset
  reply.headers(describe(dataset, entityTag))
  if (matchesEntityTag(request, entityTag)) return reply.status(304).send()
  if (rows <= MAX_WHOLE_ROWS) return sendWhole(dataset, request, reply)
  reply.type(JSON_LINES_CONTENT_TYPE)
  if (request.method === 'HEAD') return reply.send(Readable.from([])) // without a length
  return sendJsonLines(await withFirst(openLines(reply.reader.closed)), reply)
}

/** Compresses each window of rows separately, so that the bytes do not depend on the reading speed. */
export async function sendGzippedDataset<Reply extends AnyReply>(
  dataset: Dataset,
  request: DatasetRequest,
  reply: Reply,
) {
  const entityTag = `${dataset.entityTag}-gz`
  reply.headers(describe(dataset, entityTag))
  if (matchesEntityTag(request, entityTag)) return reply.status(304).send()
  reply.type(GZIP_CONTENT_TYPE)
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  const lines = await withFirst(dataset.openLines(reply.reader.closed))
  return reply.send(Readable.from(compress(lines), { objectMode: false }))
}

async function sendWhole<Reply extends AnyReply>(dataset: Dataset, { method, headers }: DatasetRequest, reply: Reply) {
  const { entityTag } = dataset
  const known = WHOLE_CACHE.get(entityTag)
  reply.type(JSON_LINES_CONTENT_TYPE).headers({ 'accept-ranges': 'bytes' })
  if (method === 'HEAD') {
    if (known) reply.headers({ 'content-length': known.length })
    return reply.send(Readable.from([]))
  }
  const { closed } = reply.reader
  const body = known ?? (await readAll(dataset.openLines(closed)))
  if (!closed.aborted) WHOLE_CACHE.set(entityTag, body) // stop making rows once the reader disconnects
  const range =
    headers['if-range'] === undefined || headers['if-range'] === `"${entityTag}"` ? headers.range : undefined
  const [, first, last] = RANGE_PATTERN.exec(range ?? '') ?? []
  if (first === undefined) return reply.send(body)
  const start = Number(first)
  if (start >= body.length)
    return reply
      .status(416)
      .headers({ 'content-range': `bytes */${body.length}` })
      .send(Readable.from([]))
  const end = Math.min(last === undefined ? Infinity : Number(last), body.length - 1)
  if (end < start) return reply.send(body)
  reply.status(206).headers({ 'content-range': `bytes ${start}-${end}/${body.length}` })
  return reply.send(body.subarray(start, end + 1))
}

function describe({ rows }: Dataset, entityTag: string): Record<string, string> {
  return { etag: `"${entityTag}"`, 'x-rows': String(rows), 'cache-control': 'no-cache' }
}

function matchesEntityTag({ headers }: DatasetRequest, entityTag: string): boolean {
  const tags = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags?.some((tag) => tag === '*' || tag === `"${entityTag}"`) ?? false
}

/** Returns the same lines, and fails at once if the first of them does. */
async function withFirst(lines: AsyncGenerator<string>): Promise<AsyncGenerator<string>> {
  return prepend(await lines.next(), lines)
}

async function* prepend(first: IteratorResult<string, unknown>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    if (!first.done) yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

async function readAll(lines: AsyncGenerator<string>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of lines) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

async function* compress(lines: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  for await (const part of lines) yield gzipSync(part)
}
