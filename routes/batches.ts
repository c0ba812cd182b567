/** /runs/{run}/batches: the scored groups of a training step, whole or one rank's share. */
import { Readable } from 'node:stream'
import {
  Batch,
  BatchRequest,
  type RankSlice,
  RankSliceFields,
  RankSliceQueryFields,
  Step,
  validateRankSlice,
} from '@reasoning-gym-server/contract/batch'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { BatchesFeature } from '../src/features/batches/index.ts'
import { ArrayEncoding } from '../src/features/rollouts/group-payload.ts'
import type { App } from '../src/http/app.ts'
import { IfMatchHeaders, ifMatchHeader, parsePreferWaitMs } from '../src/http/request-headers.ts'
import { uncheckedSerializer } from '../src/http/validation.ts'

const ArraysParam = ArrayEncoding.default('numbers').describe(
  'Encoding of tokens, masks, logprobs and arrays: `numbers` for JSON arrays, `base64` for typed data.',
)
const StepParams = z.strictObject({
  run: RunName,
  step: z.coerce.number().pipe(Step).describe('Training step of the batch.'),
})

export function addBatchRoutes(app: App, { delivery }: BatchesFeature): void {
  addTakeBatchRoute(app, delivery)
  addGetBatchRoute(app, delivery)
  addAcknowledgeBatchRoute(app, delivery)
}

type Delivery = BatchesFeature['delivery']

function addTakeBatchRoute(app: App, delivery: Delivery): void {
  app.post(
    '/runs/:run/batches',
    {
      config: { access: 'trainers' },
      serializerCompiler: uncheckedSerializer,
      schema: {
        operationId: 'takeBatch',
        tags: ['batches'],
        summary: 'Take the batch of a step',
        description:
          'The first call for a step composes the batch from the oldest buffered groups. Every later call returns the same batch, whole or one rank’s share, until it is acknowledged. If there are not enough rollouts yet, the response is 204; with `Prefer: wait=N` it is held until there are. A step more than 1,000,000 above the latest one is rejected with 400 `invalid_request`.',
        headers: z.looseObject({
          ...ifMatchHeader,
          prefer: z
            .string()
            .optional()
            .describe('`wait=N`: hold the response until the batch is complete, for at most N seconds.'),
        }),
        params: z.strictObject({ run: RunName }),
        querystring: z.strictObject({ arrays: ArraysParam }),
        body: BatchRequest,
        response: {
          200: Batch,
          204: z
            .null()
            .describe(
              'There are not enough rollouts yet. `X-Batch-Missing` has the number of missing rollouts, `X-Batch-Queued` the number of queued ones. With `final`, the response is never 204.',
            ),
        },
        problems: ['unknown_run', 'batch_acknowledged', 'too_many_open_batches', 'run_changed'],
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
      return reply.send(streamBatch(delivery, reading) as never) // Batch, in pieces
    },
  )
}

function addGetBatchRoute(app: App, delivery: Delivery): void {
  app.get(
    '/runs/:run/batches/:step',
    {
      config: { access: 'trainers' },
      serializerCompiler: uncheckedSerializer,
      compress: false,
      schema: {
        operationId: 'getBatch',
        tags: ['batches'],
        summary: 'Get a composed batch',
        description:
          'Returns a batch that was composed and is not acknowledged yet, whole or one rank’s share. It never composes a batch.',
        params: StepParams,
        headers: IfMatchHeaders,
        querystring: z.strictObject({ ...RankSliceQueryFields, arrays: ArraysParam }).superRefine(validateRankSlice),
        response: {
          200: Batch,
        },
        problems: ['unknown_batch'],
      },
    },
    async ({ params, query, headers }, reply) => {
      const { run, batch } = await delivery.requireBatch(params.run, params.step, headers['if-match'])
      reply.type('application/json')
      const reading = { run, batch, rankSlice: getShare(query), encoding: query.arrays, reader: reply.reader }
      return reply.send(streamBatch(delivery, reading) as never) // Batch, in pieces
    },
  )
}

function addAcknowledgeBatchRoute(app: App, delivery: Delivery): void {
  app.post(
    '/runs/:run/batches/:step/ack',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'acknowledgeBatch',
        tags: ['batches'],
        summary: 'Acknowledge a batch',
        description:
          'Releases a batch after the trainer has used it. With `rank` and `ranks`, the batch is released when every rank has acknowledged it. Repeating the call is safe.',
        params: StepParams,
        headers: IfMatchHeaders,
        body: z
          .strictObject(RankSliceFields)
          .superRefine(validateRankSlice)
          .meta({
            id: 'BatchAcknowledgementRequest',
            description: 'The rank that acknowledges the batch. Without it, the batch is released at once.',
          })
          .optional(),
        response: {
          200: z
            .strictObject({
              step: Step,
              acknowledged: z
                .boolean()
                .describe('Whether the batch is released. If false, other ranks have not acknowledged it yet.'),
            })
            .meta({ id: 'BatchAcknowledgement', description: 'State of the batch after the call.' }),
        },
        problems: ['unknown_run', 'unknown_batch'],
      },
    },
    async ({ params, body, headers }) => ({
      step: params.step,
      acknowledged: await delivery.acknowledge(params.run, params.step, getShare(body ?? {}), headers['if-match']),
    }),
  )
}

function streamBatch(delivery: Delivery, reading: Parameters<Delivery['stream']>[0]): Readable {
  return Readable.from(delivery.stream(reading), { objectMode: false })
}

function getShare({ rank, ranks }: { rank?: number | undefined; ranks?: number | undefined }): RankSlice | undefined {
  return rank === undefined || ranks === undefined ? undefined : { rank, ranks }
}
