/** Routes of an Atropos store that its trainer calls, and those that only report. */
import { randomInt } from 'node:crypto'
import { textResponse } from '@reasoning-gym-server/contract/text-response'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { problemResponses } from '../../../http/errors/problem-responses.ts'
import { uncheckedSerializer } from '../../../http/response-serializer.ts'
import { observeDelivery } from '../delivery.ts'
import { retryUntil } from '../sample-scoring.ts'
import { buildBatchReply } from './batch-reply.ts'
import type { AtroposStores } from './index.ts'
import {
  Batch,
  Info,
  LoggingNames,
  Registered,
  Status,
  type StorePath,
  UNREGISTERED,
  Welcome,
} from './store-schemas.ts'
import { NO_EXAMPLE, Registration } from './wire.ts'

/** Its trainers give up on a call after 10 s, and its environments after five minutes. */
const LatestExample = z
  .record(z.string(), z.unknown())
  .meta({ id: 'AtroposExample', description: 'The latest group, with empty lists before the first one.' })

export const TRAINER_HOLD_MS = 8000
export const MAX_UUID = 2 ** 47
const tags = ['adapters']
const redisProblems = problemResponses('redis_unavailable', 'redis_full')

export function addTrainerRoutes(app: App, stores: AtroposStores, { prefix, label, params }: StorePath): void {
  const storeOf = ({ run }: { run?: string | undefined }) => stores.get(run)
  const hold = <T>(work: () => Promise<T>) => retryUntil(performance.now() + TRAINER_HOLD_MS, work)
  const getInfo = (name: string, summary: string, answer: z.ZodType) => ({
    schema: {
      operationId: `getAtropos${label}${name}`,
      tags,
      summary,
      params,
      response: { 200: answer, ...redisProblems },
    },
  })

  app.get(prefix, getInfo('Root', 'Atropos: check that the API is up', Welcome), async () => ({
    message: 'AtroposLib API',
  }))

  app.post(
    `${prefix}/register`,
    {
      schema: {
        operationId: `registerAtropos${label}Trainer`,
        tags,
        summary: 'Atropos: register the trainer',
        description: 'Sets the batch size and other parameters of the trainer. The latest registration applies.',
        params,
        body: Registration,
        response: { 200: Registered, ...problemResponses('invalid_request', 'invalid_json'), ...redisProblems },
      },
    },
    async (request) => {
      await hold(() => storeOf(request.params).register(request.body))
      return { uuid: randomInt(MAX_UUID) }
    },
  )

  app.get(
    `${prefix}/batch`,
    {
      config: { writesRedis: true },
      exposeHeadRoute: false, // it would take a batch
      serializerCompiler: uncheckedSerializer,
      schema: {
        operationId: `takeAtropos${label}Batch`,
        tags,
        summary: 'Atropos: take the next batch',
        description:
          'The groups of the batch are removed when the response has been sent. A batch whose connection broke goes to the next call. `batch` is null while no batch is ready, and while Redis is down.',
        params,
        response: { 200: Batch },
      },
    },
    async (request, reply) => {
      const store = storeOf(request.params)
      const delivery = observeDelivery(reply)
      const batch = await buildBatchReply(async () => {
        const taken = await hold(() => store.takeBatch())
        if (taken === undefined) return { batch: null }
        if (taken === 'unregistered') return UNREGISTERED
        return {
          chunks: store.stream(taken, reply.replyMemory, reply.reader),
          begin: () => void store.watchDelivery(taken, delivery),
          giveBack: () => store.offerAgain(taken),
        }
      })
      return reply.type('application/json').send(batch as Batch) // or its text, in pieces
    },
  )

  app.get(
    `${prefix}/info`,
    getInfo('Info', 'Atropos: get the batch settings of the trainer', Info),
    async (request) => {
      const { registration } = await hold(() => storeOf(request.params).readStore())
      return { batch_size: registration?.batch_size ?? -1, max_token_len: registration?.max_token_len ?? -1 }
    },
  )

  app.get(
    `${prefix}/wandb_info`,
    getInfo('LoggingNames', 'Atropos: get the logging names of the trainer', LoggingNames),
    async (request) => {
      const { registration } = await hold(() => storeOf(request.params).readStore())
      return { group: registration?.wandb_group ?? null, project: registration?.wandb_project ?? null }
    },
  )

  app.get(
    `${prefix}/status`,
    getInfo('Status', 'Atropos: get the step and the length of the queue', Status),
    async (request) => {
      const { step, queued } = await hold(() => storeOf(request.params).readProgress())
      return { current_step: step, queue_size: queued }
    },
  )

  app.get(
    `${prefix}/latest_example`,
    {
      ...getInfo('LatestExample', 'Atropos: get the latest group', LatestExample),
      serializerCompiler: uncheckedSerializer,
    },
    async (request, reply) => {
      const latest = await hold(() => storeOf(request.params).readLatest())
      return reply.type('application/json').send((latest ?? JSON.stringify(NO_EXAMPLE)) as never) // as JSON
    },
  )

  app.get(
    `${prefix}/reset_data`,
    {
      config: { writesRedis: true },
      exposeHeadRoute: false,
      schema: {
        operationId: `resetAtropos${label}`,
        tags,
        summary: 'Atropos: delete the trainer, the environments and the groups',
        params,
        response: { 200: textResponse('text/plain', 'The store is empty now.'), ...redisProblems },
      },
    },
    async (request, reply) => {
      await hold(() => storeOf(request.params).reset())
      return reply.type('text/plain').send('Reset successful')
    },
  )
}
