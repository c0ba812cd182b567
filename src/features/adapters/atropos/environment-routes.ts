/** Routes of an Atropos store that its environments call. They hold a call where an error would end the environment. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { observeDelivery } from '../delivery.ts'
import { retryUntil } from '../sample-scoring.ts'
import type { AdapterUsage } from '../usage.ts'
import { readEnvironmentId } from './env-reference.ts'
import type { AtroposStores } from './index.ts'
import {
  Disconnected,
  EnvironmentAnswer,
  EnvironmentStatusAnswer,
  Received,
  ReceivedList,
  type StorePath,
} from './store-schemas.ts'
import {
  EnvironmentId,
  EnvironmentReference,
  EnvironmentRegistration,
  type ScoredGroup as Group,
  ScoredGroup,
  ScoredGroups,
} from './wire.ts'

/**
 * Time to hold a call. Atropos's clients wait five minutes, three times; a body must arrive within two, including this
 * wait.
 */
const ENVIRONMENT_HOLD_MS = 45_000
const GROUPS_BODY_BYTES = 64 * 1024 * 1024
const EXAMPLE_GROUP = { tokens: [[1, 2, 3]], masks: [[-100, 2, 3]], scores: [1], env_id: 0 }
const tags = ['Atropos']

export function addEnvironmentRoutes(
  app: App,
  { stores, usage }: { stores: AtroposStores; usage: AdapterUsage },
  { prefix, label, params, binding }: StorePath,
): void {
  type StoreParams = z.infer<typeof params>
  const storeOf = ({ run }: StoreParams) => stores.get(run)
  const hold = <T>(work: () => Promise<T>) => retryUntil(performance.now() + ENVIRONMENT_HOLD_MS, work)

  app.post(
    `${prefix}/register-env`,
    {
      config: binding,
      schema: {
        operationId: `registerAtropos${label}Environment`,
        tags,
        summary: 'Atropos: register an environment',
        description:
          'The status is `wait for trainer to start` until a trainer has requested a batch. Repeat the call until it is `success`.',
        params,
        body: EnvironmentRegistration,
        examples: {
          bodies: { 'An example': { max_token_length: 2048, desired_name: 'puzzles', group_size: 16 } },
        },
        response: { 200: EnvironmentAnswer },
      },
    },
    async (request) => {
      const registered = await hold(() => storeOf(request.params).registerEnvironment(request.body))
      if (registered.kind === 'too_early') return { status: 'wait for trainer to start' as const }
      const { id, name, step, registration } = registered
      return {
        status: 'success' as const,
        env_id: id,
        wandb_name: name,
        checkpoint_dir: registration.checkpoint_dir,
        starting_step: step,
        checkpoint_interval: registration.save_checkpoint_interval,
        num_steps: registration.num_steps,
      }
    },
  )

  app.post(
    `${prefix}/disconnect-env`,
    {
      config: binding,
      schema: {
        operationId: `disconnectAtropos${label}Environment`,
        tags,
        summary: 'Atropos: remove an environment',
        description: 'Removes the environment and its reserved share of the batches.',
        params,
        body: EnvironmentReference,
        examples: { bodies: { 'An example': { env_id: 0 } } },
        response: { 200: Disconnected },
      },
    },
    async (request) => {
      const isKnown = await hold(() => storeOf(request.params).disconnectEnvironment(request.body.env_id))
      return isKnown
        ? { status: 'success' as const }
        : { status: 'failure' as const, error: `There is no environment ${request.body.env_id}` }
    },
  )

  app.get(
    `${prefix}/status-env`,
    {
      config: binding,
      schema: {
        operationId: `getAtropos${label}EnvironmentStatus`,
        tags,
        summary: 'Atropos: get the queue status for an environment',
        description:
          'Clients of Atropos send `{"env_id": N}` as the body of this GET; `env_id` in the query works as well.',
        params,
        querystring: z.strictObject({
          env_id: z.coerce
            .number()
            .pipe(EnvironmentId)
            .optional()
            .describe('Number of the environment, in place of the body.'),
        }),
        response: { 200: EnvironmentStatusAnswer },
        examples: { query: { env_id: 0 } },
      },
    },
    async (request) => {
      const id = await readEnvironmentId(request)
      return hold(() => storeOf(request.params).describeEnvironment(id))
    },
  )

  const accept = async (request: FastifyRequest, reply: FastifyReply, groups: Group[]) => {
    const { run } = request.params as StoreParams // validated
    const delivery = observeDelivery(reply)
    await stores.get(run).accept(groups, { deadline: performance.now() + ENVIRONMENT_HOLD_MS, delivery })
    usage.recordCalls('atropos', run, groups.length)
  }
  const acceptance = (name: string, summary: string) => ({
    config: binding,
    bodyLimit: GROUPS_BODY_BYTES,
    // If the store is full, wait before reading the body: the client drops groups that are rejected.
    onRequest: ({ params: path }: FastifyRequest) =>
      // rejected later if malformed
      stores.get((path as StoreParams).run).waitForRoom(performance.now() + ENVIRONMENT_HOLD_MS),
    schema: {
      operationId: `submitAtropos${label}${name}`,
      tags,
      summary,
      description:
        'A submission counts once its response has been sent. Until then, the server treats an equal submission as a retry. While the store is full, the server holds the call and then responds with 503.',
      params,
    },
  })

  const one = acceptance('Group', 'Atropos: submit a scored group')
  app.post(
    `${prefix}/scored_data`,
    {
      ...one,
      schema: {
        ...one.schema,
        body: ScoredGroup,
        examples: { bodies: { 'An example': EXAMPLE_GROUP } },
        response: { 200: Received },
      },
    },
    async (request, reply) => {
      await accept(request, reply, [request.body])
      return { status: 'received' as const }
    },
  )

  const several = acceptance('Groups', 'Atropos: submit several scored groups, accepted together or not at all')
  app.post(
    `${prefix}/scored_data_list`,
    {
      ...several,
      schema: {
        ...several.schema,
        body: ScoredGroups,
        examples: { bodies: { 'An example': [EXAMPLE_GROUP] } },
        response: { 200: ReceivedList },
      },
    },
    async (request, reply) => {
      const { body } = request
      if (body.length > 0) await accept(request, reply, body)
      return { status: 'received' as const, groups_processed: body.length }
    },
  )
}
