/** GET /dataset.jsonl, GET /eval/suites/{suite}/dataset.jsonl: items as files that trainers load by URL. */

import { DatasetQuery, DatasetRowsQuery } from '@reasoning-gym-server/contract/dataset'
import type { ErrorCode } from '@reasoning-gym-server/contract/errors'
import { SuiteName } from '@reasoning-gym-server/contract/suite'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { JSON_LINES_CONTENT_TYPE } from '../../../http/streamed-responses.ts'
import type { Datasets } from './datasets.ts'
import { GZIP_CONTENT_TYPE, MAX_WHOLE_ROWS, sendDataset, sendGzippedDataset } from './send-dataset.ts'

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
          examples: { query: { format: 'trl', tasks: 'category:arithmetic', difficulty: '0.3', count: 10 } },
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
