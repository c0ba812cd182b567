/** GET /dataset.jsonl, GET /eval/suites/{suite}/dataset.jsonl: items as files that trainers load by URL. */

import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { DatasetQuery, DatasetRowsQuery } from '@reasoning-gym-server/contract/dataset'
import type { ErrorCode } from '@reasoning-gym-server/contract/errors'
import { SuiteName } from '@reasoning-gym-server/contract/suite'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { JSON_LINES_CONTENT_TYPE, sendJsonLines } from '../../../http/streamed-responses.ts'
import type { Dataset, Datasets } from './datasets.ts'

const GZIP_CONTENT_TYPE = 'application/gzip'
const MAX_WHOLE_ROWS = 1024

const NOTES = `The bytes are the same each time and on every node while the query, the run settings and the versions stay the same. The \`ETag\` may be sent as \`If-None-Match\`. Up to ${MAX_WHOLE_ROWS.toLocaleString('en-US')} rows come with a \`Content-Length\` and support byte ranges. Longer files are streamed: rows are made as fast as the client reads. \`HEAD\` makes no rows.`

const FAILURES: ErrorCode[] = [
  'unknown_run',
  'engine_version_mismatch',
  'task_code_conflict',
  'engine_unavailable',
  'make_failed',
  'make_timeout',
  'make_out_of_memory',
]

/** File variants: plain, and compressed for readers that take long files as a stream. */
const FILES = [
  { ending: '', idSuffix: '', what: 'JSONL file', type: JSON_LINES_CONTENT_TYPE, send: sendDataset },
  { ending: '.gz', idSuffix: 'Gzip', what: 'gzipped JSONL file', type: GZIP_CONTENT_TYPE, send: sendGzippedDataset },
]

function rowsResponses(type: string) {
  return {
    200: {
      description: 'Rows of the data set. The header `X-Rows` has their number.',
      content: { [type]: { schema: z.string().describe('JSON objects, one per line.') } },
    },
    206: {
      description: 'Requested range of the file.',
      content: { [type]: { schema: z.string().describe('Part of the file.') } },
    },
    304: z.null().describe('The caller’s copy is current.'),
    416: z.null().describe('The range begins after the end of the file.'),
  }
}

const ConditionalHeaders = z.looseObject({
  'if-none-match': z
    .string()
    .optional()
    .describe('`ETag` of an earlier response. If the rows are the same, the response is 304.'),
})

export function addDatasetRoutes(app: App, { datasets }: { datasets: Datasets }): void {
  for (const { ending, idSuffix, what, type, send } of FILES) {
    app.get(
      `/dataset.jsonl${ending}`,
      {
        config: { access: 'scorers' },
        compress: false, // a compressor would hold the first rows back
        schema: {
          operationId: `getDataset${idSuffix}`,
          tags: ['data sets'],
          summary: `Download training items as a ${what}`,
          description: `The rows have the columns of the trainer in \`format\`. Row k is the item that a run with the same tasks, seed and difficulty, and with \`exclude_eval_items\`, has at position k. Nothing is handed out. Questions of frozen suites are left out. ${NOTES}`,
          querystring: DatasetQuery,
          headers: ConditionalHeaders,
          response: rowsResponses(type),
          problems: [...FAILURES, 'unknown_task'],
        },
      },
      async (request, reply) => send(await datasets.openTraining(request.query), request, reply),
    )

    app.get(
      `/eval/suites/:suite/dataset.jsonl${ending}`,
      {
        config: { access: 'scorers' },
        compress: false,
        schema: {
          operationId: `getSuiteDataset${idSuffix}`,
          tags: ['data sets'],
          summary: `Download a suite as a ${what}`,
          description: `Use it to evaluate, never to train. ${NOTES}`,
          params: z.strictObject({ suite: SuiteName }),
          querystring: DatasetRowsQuery,
          headers: ConditionalHeaders,
          response: rowsResponses(type),
          problems: [...FAILURES, 'unknown_suite'],
        },
      },
      async (request, reply) => send(await datasets.openSuite(request.params.suite, request.query), request, reply),
    )
  }
}

const WHOLE_CACHE_BYTES = 16 * 1024 * 1024
const RANGE_PATTERN = /^bytes=(\d{1,15})-(\d{1,15})?$/

/** Short data sets, keyed by entity tag, because a data loader requests one several times. */
const WHOLE_CACHE = new LRUCache<string, Buffer>({
  max: 64,
  maxSize: WHOLE_CACHE_BYTES,
  sizeCalculation: ({ length }) => length + 1,
})

type AnyReply = Parameters<typeof sendJsonLines>[1]

type DatasetRequest = Pick<FastifyRequest, 'method' | 'headers'>

/**
 * Sends a data set. A short one is made as a whole and has a length and byte ranges, which data loaders need to read it as
 * a stream; a long one is sent as it is made. The first rows are made before the headers are sent, so that a failure to
 * make them has a status.
 */
async function sendDataset<Reply extends AnyReply>(dataset: Dataset, request: DatasetRequest, reply: Reply) {
  const { entityTag, rows, openLines } = dataset
  reply.headers(describe(dataset, entityTag))
  if (matchesEntityTag(request, entityTag)) return reply.status(304).send()
  if (rows <= MAX_WHOLE_ROWS) return sendWhole(dataset, request, reply)
  reply.type(JSON_LINES_CONTENT_TYPE)
  if (request.method === 'HEAD') return reply.send(Readable.from([])) // without a length
  return sendJsonLines(openLines(reply.reader.closed), reply)
}

/**
 * Sends a compressed data set as it is made, because a decompressor needs no ranges. Compresses each window of rows
 * separately, so that the bytes do not depend on the reading speed.
 */
async function sendGzippedDataset<Reply extends AnyReply>(dataset: Dataset, request: DatasetRequest, reply: Reply) {
  const entityTag = `${dataset.entityTag}-gz`
  reply.headers(describe(dataset, entityTag))
  if (matchesEntityTag(request, entityTag)) return reply.status(304).send()
  reply.type(GZIP_CONTENT_TYPE)
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  return reply.send(Readable.from(compress(dataset.openLines(reply.reader.closed)), { objectMode: false }))
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

async function readAll(lines: AsyncGenerator<string>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of lines) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

async function* compress(lines: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  for await (const part of lines) yield gzipSync(part)
}
