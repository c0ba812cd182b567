/** GET /dataset.jsonl, GET /eval/suites/{suite}/dataset.jsonl: items as files that trainers load by URL. */

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DatasetQuery, DatasetRowsQuery } from '../../../contract/dataset.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import { SuiteName } from '../../../contract/eval.ts'
import type { App } from '../../../http/app.ts'
import { problemResponses } from '../../../http/errors/problem-responses.ts'
import { JSON_LINES_CONTENT_TYPE, sendJsonLines } from '../../../http/json-lines-responses.ts'
import type { Dataset, Datasets } from './datasets.ts'

const NOTES =
  'The bytes are the same each time, on every node, for as long as query, run settings and versions are. Rows are made as fast as they are read. `HEAD` makes none. The `ETag` may be sent as `If-None-Match`.'

const FAILURES: ErrorCode[] = [
  'invalid_request',
  'unknown_run',
  'engine_version_mismatch',
  'engine_unavailable',
  'redis_unavailable',
  'make_failed',
  'make_timeout',
  'make_out_of_memory',
]

const ROWS_RESPONSES = {
  200: {
    description: 'The rows; their number is in the header `X-Rows`',
    content: { [JSON_LINES_CONTENT_TYPE]: { schema: z.string().describe('An object of JSON in each line') } },
  },
  304: z.null().describe('The `ETag` is the one of `If-None-Match`'),
}

const ConditionalHeaders = z.looseObject({
  'if-none-match': z.string().optional().describe('The `ETag` of an earlier answer: 304 if the rows are the same'),
})

export function addDatasetRoutes(app: App, { datasets }: { datasets: Datasets }): void {
  app.get(
    '/dataset.jsonl',
    {
      compress: false, // a compressor would hold the first rows back
      schema: {
        operationId: 'getDataset',
        tags: ['adapters'],
        summary: 'Items to train on, as a JSONL file in the columns of a trainer',
        description: `Row k is the item that a run with the same tasks, seed and difficulty has at position k. Nothing is handed out. Questions of frozen suites are left out. ${NOTES}`,
        querystring: DatasetQuery,
        headers: ConditionalHeaders,
        response: { ...ROWS_RESPONSES, ...problemResponses(...FAILURES, 'unknown_task') },
      },
    },
    async (request, reply) => sendDataset(await datasets.openTraining(request.query), request, reply),
  )

  app.get(
    '/eval/suites/:suite/dataset.jsonl',
    {
      compress: false,
      schema: {
        operationId: 'getSuiteDataset',
        tags: ['adapters'],
        summary: 'The items of a suite, as a JSONL file in the columns of a trainer',
        description: `To evaluate on, never to train on. ${NOTES}`,
        params: z.strictObject({ suite: SuiteName }),
        querystring: DatasetRowsQuery,
        headers: ConditionalHeaders,
        response: { ...ROWS_RESPONSES, ...problemResponses(...FAILURES, 'unknown_suite') },
      },
    },
    async (request, reply) =>
      sendDataset(await datasets.openSuite(request.params.suite, request.query), request, reply),
  )
}

/** Our reply, whatever its schemas say. */
type AnyReply = Parameters<typeof sendJsonLines>[1] & Pick<FastifyReply, 'header'>

/** The first rows come before the headers, so that a failure to make them has a status. */
async function sendDataset<Reply extends AnyReply>(
  { entityTag, rows, openLines }: Dataset,
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  reply: Reply,
) {
  reply.headers({ etag: `"${entityTag}"`, 'x-rows': rows, 'cache-control': 'no-cache' })
  if (matchesEntityTag(headers['if-none-match'], entityTag)) return reply.status(304).send()
  if (method === 'HEAD') return reply.type(JSON_LINES_CONTENT_TYPE).send(Readable.from([])) // without a length
  const lines = openLines(reply.reader.closed)
  const first = await lines.next()
  return sendJsonLines(prepend(first, lines), reply)
}

function matchesEntityTag(condition: string | undefined, entityTag: string): boolean {
  const tags = condition?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags?.some((tag) => tag === '*' || tag === `"${entityTag}"`) ?? false
}

async function* prepend(first: IteratorResult<string, unknown>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    if (!first.done) yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}
