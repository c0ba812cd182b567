/**
 * /atropos/{run}/…: a trainer of Atropos takes the batches of a run, whose groups arrive by POST /rollouts with their
 * tokens.
 */

import { randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import { type ErrorCode, isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { uncheckedSerializer } from '../../../http/validation.ts'
import { translateRedisError } from '../../../platform/redis/redis-errors.ts'
import { observeDelivery, retryUntil } from '../trainer-calls.ts'
import type { AdapterUsage } from '../usage.ts'
import type { RunBatches } from './run-batches.ts'
import { Batch, Info, LoggingNames, Registered, Registration, Status, Welcome } from './wire.ts'

const PREFIX = '/atropos/:run'
/** Atropos's trainers give up on a call after 10 s. */
const RETRY_WINDOW_MS = 8000
/** IDs are whole numbers that Python and JSON readers of any kind keep exactly. */
const MAX_UUID = 2 ** 47
const tags = ['atropos']
const params = z.strictObject({ run: RunName })
const problems: ErrorCode[] = ['unknown_run']

export function addAtroposRoutes(
  app: App,
  { runBatches, usage }: { runBatches: RunBatches; usage: AdapterUsage },
): void {
  const retry = <T>(work: () => Promise<T>) => retryUntil(performance.now() + RETRY_WINDOW_MS, work)
  const getInfo = (name: string, summary: string, answer: z.ZodType) => ({
    config: { access: 'readers' } as const,
    schema: {
      operationId: `getAtroposRun${name}`,
      tags,
      summary,
      params,
      response: { 200: answer },
      problems,
    },
  })

  app.get(PREFIX, getInfo('Root', 'Atropos: check that the API of a run is up', Welcome), async () => ({
    message: 'AtroposLib API',
  }))

  app.post(
    `${PREFIX}/register`,
    {
      schema: {
        operationId: 'registerAtroposRunTrainer',
        tags,
        summary: 'Atropos: register the trainer of a run',
        description: 'Sets the `batch_size` of the run to that of the trainer.',
        params,
        body: Registration,
        response: { 200: Registered },
        problems,
        examples: { bodies: { 'An example': { batch_size: 32, max_token_len: 2048 } } },
      },
    },
    async ({ params: { run }, body }) => {
      await retry(() => runBatches.register(run, body))
      return { uuid: randomInt(MAX_UUID) }
    },
  )

  app.get(
    `${PREFIX}/batch`,
    {
      config: { writesRedis: true },
      exposeHeadRoute: false, // it would take a batch
      serializerCompiler: uncheckedSerializer,
      schema: {
        operationId: 'takeAtroposRunBatch',
        tags,
        summary: 'Atropos: take the next batch of a run',
        description:
          'The batch is acknowledged when the response has been sent. The groups of the run need tokens and masks. Until the response has been sent, the next call gets the same batch. `batch` is null while no batch is ready, and while Redis is down.',
        params,
        response: { 200: Batch },
      },
    },
    async ({ params: { run } }, reply) => {
      const delivery = observeDelivery(reply)
      const batch = await buildBatchReply(async () => {
        const deadline = performance.now() + RETRY_WINDOW_MS
        const taken = await retryUntil(deadline, () => runBatches.take(run, deadline))
        if (!taken) return { batch: null }
        usage.recordCalls('atropos', run, taken.batch.groups.length)
        return {
          chunks: runBatches.stream(taken, reply.reader),
          begin: () => void runBatches.watchDelivery(taken, delivery),
          giveBack: () => runBatches.release(run, taken.lease),
        }
      }).catch(explain)
      return reply.type('application/json').send(batch as Batch) // or its text, in pieces
    },
  )

  app.get(
    `${PREFIX}/info`,
    getInfo('Info', 'Atropos: get the batch settings of the trainer of a run', Info),
    async ({ params: { run } }) => {
      const registration = await retry(() => runBatches.getRegistration(run))
      return { batch_size: registration?.batch_size ?? -1, max_token_len: registration?.max_token_len ?? -1 }
    },
  )

  app.get(
    `${PREFIX}/wandb_info`,
    getInfo('LoggingNames', 'Atropos: get the logging names of the trainer of a run', LoggingNames),
    async ({ params: { run } }) => {
      const registration = await retry(() => runBatches.getRegistration(run))
      return { group: registration?.wandb_group ?? null, project: registration?.wandb_project ?? null }
    },
  )

  app.get(
    `${PREFIX}/status`,
    getInfo('Status', 'Atropos: get the step and queue length of a run', Status),
    async ({ params: { run } }) => {
      const { steps, queued } = await retry(() => runBatches.readProgress(run))
      return { current_step: steps, queue_size: queued }
    },
  )
}

/** Converts an error to the only form whose message the trainer shows. */
function explain(error: unknown): Batch {
  if (!(error instanceof ServiceError) || error.code === 'internal') throw error
  return { status: 'error', message: error.message, batch: [] }
}

/** A batch in flight: its bytes, and the callbacks for when it is known whether they can be made. */
interface OutgoingBatch {
  chunks: AsyncGenerator<Buffer>
  /** Starts watching the delivery, once the bytes can be made. */
  begin(): void
  /** Releases the batch to the next caller if its bytes cannot be made. */
  giveBack(): Promise<void>
}

/**
 * Builds the response to `GET /batch`. `take` returns a batch, or the answer to send in its place. It is never an error
 * that would end the trainer; the trainer retries while the batch is null.
 */
export async function buildBatchReply(take: () => Promise<OutgoingBatch | Batch>): Promise<Batch | Readable> {
  try {
    const taken = await take()
    if (!('chunks' in taken)) return taken
    const first = await taken.chunks.next().catch(async (error: unknown) => {
      await taken.giveBack()
      throw error
    })
    taken.begin()
    const stream = Readable.from(startWith(first.value, taken.chunks), { objectMode: false })
    // A stream that was never read does not close them, and their memory would stay reserved.
    stream.once('close', () => void taken.chunks.return(undefined).catch(() => {}))
    return stream
  } catch (cause) {
    const error = translateRedisError(cause)
    if (!isTemporaryFailure(error)) throw error
    return { message: error.message, batch: null }
  }
}

async function* startWith(first: Buffer | undefined, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first) yield first
  yield* rest
}
