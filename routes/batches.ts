/** /runs/{run}/batches: the scored groups of a training step, whole or one rank's share. */
import { Readable } from 'node:stream'
import { z } from 'zod'
import {
  Batch,
  BatchRequest,
  type RankSlice,
  RankSliceFields,
  RankSliceQueryFields,
  Step,
  validateRankSlice,
} from '../src/contract/batch.ts'
import { RunName } from '../src/contract/rollout.ts'
import type { BatchesFeature } from '../src/features/batches/index.ts'
import { ArrayEncoding } from '../src/features/rollouts/group-payload.ts'
import type { App } from '../src/http/app.ts'
import { ifMatchHeader } from '../src/http/conditional-headers.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import { parsePreferWaitMs } from '../src/http/prefer-header.ts'
import { uncheckedSerializer } from '../src/http/response-serializer.ts'

const ArraysParam = ArrayEncoding.default('numbers').describe(
  '`base64`: tokens, masks, logprobs and arrays as typed data',
)
const IfMatchHeaders = z.looseObject(ifMatchHeader)
const StepParams = z.strictObject({ run: RunName, step: z.coerce.number().pipe(Step) })

export function addBatchRoutes(app: App, { delivery }: BatchesFeature): void {
  const stream = (reading: Parameters<typeof delivery.stream>[0]) =>
    Readable.from(delivery.stream(reading), { objectMode: false })

  app.post(
    '/runs/:run/batches',
    {
      serializerCompiler: uncheckedSerializer,
      schema: {
        operationId: 'takeBatch',
        tags: ['batches'],
        summary: 'The batch of a step: composed by the first call, the same for every later one',
        headers: z.looseObject({
          ...ifMatchHeader,
          prefer: z.string().optional().describe('`wait=N`: hold the answer, N seconds at most'),
        }),
        params: z.strictObject({ run: RunName }),
        querystring: z.strictObject({ arrays: ArraysParam }),
        body: BatchRequest,
        response: {
          200: Batch,
          204: z
            .null()
            .describe('Not enough yet, never with `final`; `X-Batch-Missing` and `X-Batch-Queued` count rollouts'),
          ...problemResponses(
            'invalid_request',
            'invalid_json',
            'unknown_run',
            'batch_acknowledged',
            'too_many_open_batches',
            'run_changed',
            'run_recreated',
            'redis_unavailable',
            'redis_full',
          ),
        },
      },
    },
    async ({ params, query, body, headers, raw }, reply) => {
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      if (raw.destroyed) gone.abort()
      const delivered = await delivery.waitForBatch(params.run, body, {
        waitMs: parsePreferWaitMs(headers.prefer),
        signal: gone.signal,
        condition: headers['if-match'],
      })
      if (delivered.kind === 'insufficient') {
        reply.headers({ 'x-batch-missing': String(delivered.missing), 'x-batch-queued': String(delivered.queued) })
        return reply.status(204).send(null)
      }
      reply.type('application/json')
      const { run, batch } = delivered
      const reading = { run, batch, rankSlice: getShare(body), encoding: query.arrays, reader: reply.reader }
      return reply.send(stream(reading) as never) // Batch, in pieces
    },
  )

  app.get(
    '/runs/:run/batches/:step',
    {
      serializerCompiler: uncheckedSerializer,
      compress: false,
      schema: {
        operationId: 'getBatch',
        tags: ['batches'],
        summary: 'A composed batch that is not acknowledged',
        params: StepParams,
        headers: IfMatchHeaders,
        querystring: z.strictObject({ ...RankSliceQueryFields, arrays: ArraysParam }).superRefine(validateRankSlice),
        response: {
          200: Batch,
          ...problemResponses('invalid_request', 'unknown_run', 'unknown_batch', 'run_recreated', 'redis_unavailable'),
        },
      },
    },
    async ({ params, query, headers }, reply) => {
      const { run, batch } = await delivery.requireBatch(params.run, params.step, headers['if-match'])
      reply.type('application/json')
      const reading = { run, batch, rankSlice: getShare(query), encoding: query.arrays, reader: reply.reader }
      return reply.send(stream(reading) as never) // Batch, in pieces
    },
  )

  app.post(
    '/runs/:run/batches/:step/ack',
    {
      schema: {
        operationId: 'acknowledgeBatch',
        tags: ['batches'],
        summary: 'The trainer has used a batch: at once, or when each rank has said so',
        params: StepParams,
        headers: IfMatchHeaders,
        body: z.strictObject(RankSliceFields).superRefine(validateRankSlice).optional(),
        response: {
          200: z.strictObject({
            step: Step,
            acknowledged: z.boolean().describe('false: other ranks have not said so'),
          }),
          ...problemResponses(
            'invalid_request',
            'invalid_json',
            'unknown_run',
            'unknown_batch',
            'run_recreated',
            'redis_unavailable',
          ),
        },
      },
    },
    async ({ params, body, headers }) => ({
      step: params.step,
      acknowledged: await delivery.acknowledge(params.run, params.step, getShare(body ?? {}), headers['if-match']),
    }),
  )
}

function getShare({ rank, ranks }: { rank?: number | undefined; ranks?: number | undefined }): RankSlice | undefined {
  return rank === undefined || ranks === undefined ? undefined : { rank, ranks }
}
