/** The HTTP routes of OpenEnv. They hold no session: a step names its item. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { problemResponses } from '../../../http/errors/problem-responses.ts'
import { observeDelivery } from '../delivery.ts'
import type { AdaptersFeature } from '../index.ts'
import { mcpAnswer, sendMcpAnswer } from '../mcp-routes.ts'
import { sendJsonText } from '../reward-routes.ts'
import { getRun, listRunPaths, type RunPath } from '../run-paths.ts'
import { METADATA, OPENAPI_DOCUMENT, SCHEMAS } from './documents.ts'
import { FrameRejection, formatObservation, type ObservationData } from './frames.ts'

const STEP_BODY_BYTES = 4 * 1024 * 1024

const JsonObject = z.record(z.string(), z.unknown())
const OpenenvDocument = z
  .record(z.string(), z.unknown())
  .meta({ id: 'OpenenvDocument', description: 'A document about the environment, as OpenEnv defines it.' })
const DOCUMENTS = [
  {
    path: 'health',
    id: 'Health',
    summary: 'OpenEnv: check the health of the environment',
    body: { status: 'healthy' },
  },
  { path: 'metadata', id: 'Metadata', summary: 'OpenEnv: get name and description of the environment', body: METADATA },
  {
    path: 'schema',
    id: 'Schemas',
    summary: 'OpenEnv: get the schemas of action, observation and state',
    body: SCHEMAS,
  },
  {
    path: 'openapi.json',
    id: 'Document',
    summary: 'OpenEnv: get the OpenAPI document of the environment',
    body: OPENAPI_DOCUMENT,
  },
  {
    path: 'state',
    id: 'State',
    summary: 'OpenEnv: get the state, which is empty over HTTP',
    body: { episode_id: null, step_count: 0 },
  },
]

const ResetBody = z
  .looseObject({
    item_id: z.unknown().optional().describe('ID of the item.'),
    position: z.unknown().optional().describe('Position in the item sequence of the run, counted from 0.'),
    task: z
      .unknown()
      .optional()
      .describe(
        'Task of an item made from a recipe. Optional beside it: `difficulty` or `config`, `seed` and `index`.',
      ),
    episode_id: z
      .unknown()
      .optional()
      .describe('ID of the rollout; calls that repeat it count once. Defaults to a new ID.'),
  })
  .meta({ id: 'OpenenvReset', description: 'Item to begin an episode with.' })
  .default({})
  .describe(
    'At most one of `item_id`, `position` and `task`. With none, the next item of the run or, without a run, a random one.',
  )

const StepBody = z
  .looseObject({
    action: JsonObject.describe('The completion: `completion`, `message`, `text`, `content`, or the bare `answer`.'),
    item_id: z.unknown().optional().describe('ID of the item; required here or in the action.'),
    episode_id: z.unknown().optional().describe('ID that the reset returned; calls that repeat it count once.'),
  })
  .meta({ id: 'OpenenvStep', description: 'A completion and the item that it answers.' })

const Observation = z
  .strictObject({
    observation: z
      .strictObject({ question: z.string().describe('Instructions and question in one text.') })
      .meta({ id: 'OpenenvQuestion', description: 'What the model sees.' }),
    reward: z.number().nullable().describe('Reward to train on; null after a reset and for an unscored completion.'),
    done: z.boolean().describe('Whether the episode has its reward.'),
    metadata: JsonObject.describe(
      'IDs of the item and the episode, task and difficulty; after a step, also score, answer and fault.',
    ),
  })
  .meta({ id: 'OpenenvObservation', description: 'An observation as OpenEnv defines it.' })

export function addHttpRoutes(app: App, adapters: AdaptersFeature): void {
  for (const { path, id, summary, body } of DOCUMENTS)
    for (const { url, params, idSuffix, summarySuffix } of listRunPaths('openenv', path)) {
      const operationId = `getOpenenv${id}${idSuffix}`
      const response = { 200: OpenenvDocument }
      const description = 'Returns a fixed document for the clients of OpenEnv.'
      const schema = {
        operationId,
        tags: ['adapters'],
        summary: summary + summarySuffix,
        description,
        params,
        response,
      }
      app.get(url, { schema }, () => body)
    }
  for (const path of listRunPaths('openenv', 'reset')) addResetRoute(app, adapters, path)
  for (const path of listRunPaths('openenv', 'step')) addStepRoute(app, adapters, path)
  for (const path of listRunPaths('openenv', 'mcp')) addMcpRoute(app, adapters, path)
}

function addResetRoute(app: App, { openenv }: AdaptersFeature, path: RunPath): void {
  const { url, params, idSuffix, summarySuffix } = path
  app.post(
    url,
    {
      schema: {
        operationId: `resetOpenenvEpisode${idSuffix}`,
        tags: ['adapters'],
        summary: `OpenEnv: begin an episode with an item${summarySuffix}`,
        params,
        body: ResetBody,
        response: { 200: Observation, ...PROBLEMS },
      },
    },
    async ({ body, params: given }, reply) =>
      sendObservation(reply, openenv.environment.reset({ run: getRun(given) }, body)),
  )
}

function addStepRoute(app: App, { openenv }: AdaptersFeature, path: RunPath): void {
  const { url, params, idSuffix, summarySuffix } = path
  app.post(
    url,
    {
      bodyLimit: STEP_BODY_BYTES,
      schema: {
        operationId: `stepOpenenvEpisode${idSuffix}`,
        tags: ['adapters'],
        summary: `OpenEnv: score a completion${summarySuffix}`,
        params,
        body: StepBody,
        response: { 200: Observation, ...PROBLEMS },
      },
    },
    async ({ body, params: given }, reply) => {
      const { action, item_id, episode_id } = body
      const data = {
        ...(item_id !== undefined && { item_id }),
        ...(episode_id !== undefined && { episode_id }),
        ...action,
      }
      return sendObservation(reply, openenv.environment.stepOnce({ run: getRun(given) }, data, observeDelivery(reply)))
    },
  )
}

function addMcpRoute(app: App, { mcp }: AdaptersFeature, { url, params, idSuffix, summarySuffix }: RunPath): void {
  const schema = {
    operationId: `callOpenenvMcp${idSuffix}`,
    tags: ['adapters'],
    summary: `OpenEnv: send a Model Context Protocol message${summarySuffix}`,
    params,
    ...mcpAnswer,
  }
  app.post(url, { schema }, async ({ body }, reply) => sendMcpAnswer(reply, mcp.answer(body)))
}

const PROBLEMS = problemResponses(
  'invalid_request',
  'invalid_json',
  'invalid_item_id',
  'invalid_config',
  'seed_reserved',
  'index_out_of_range',
  'unknown_task',
  'engine_version_mismatch',
  'task_code_conflict',
  'make_failed',
  'engine_unavailable',
  'redis_unavailable',
  'items_not_ready',
  'make_timeout',
  'make_out_of_memory',
)

/** What a frame is rejected for is a bad request here. */
async function sendObservation(reply: FastifyReply, work: Promise<ObservationData>): Promise<FastifyReply> {
  try {
    return sendJsonText(reply, formatObservation(await work))
  } catch (error) {
    if (error instanceof FrameRejection) throw new ServiceError('invalid_request', error.message, { cause: error })
    throw error
  }
}
