/**
 * The routes of OpenEnv, and the documents that its tools request from an environment: metadata, JSON schemas and an
 * OpenAPI document. The routes keep no session: a step names its item.
 */
import { type ErrorCode, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { VERSION } from '../../../platform/installation.ts'
import { CORRECT_COMPLETION, EXAMPLE_ITEM_ID, EXAMPLE_RECIPE } from '../../items/example-item.ts'
import type { AdaptersFeature } from '../index.ts'
import { describeOperation, getRun, listMounts, type Mount } from '../mounts.ts'
import { observeDelivery, sendJsonText } from '../trainer-calls.ts'
import { addWebSocketRoutes } from './socket-routes.ts'
import { addTaskRoutes } from './task-routes.ts'
import { FrameRejection, formatObservation, type ObservationData } from './wire.ts'

/** Version of OpenEnv's HTTP contract, which its validator reads here. */
const CONTRACT_VERSION = '1.0.0'

const NUMBER_OR_NULL = { anyOf: [{ type: 'number' }, { type: 'null' }] }

const METADATA = {
  name: 'reasoning-gym-server',
  description:
    'Reasoning tasks with answers that a program checks: one question and one completion an episode. The reward is the score of the library, or that of the run in the path.',
  version: VERSION,
}

/**
 * Clients put the model's reply into the single required field. The title must differ from OpenEnv's own action types,
 * or clients would treat this as a tool environment.
 */
const ACTION_SCHEMA = {
  title: 'ReasoningGymAction',
  type: 'object',
  properties: {
    completion: {
      type: 'string',
      title: 'Completion',
      description:
        'The whole reply to the question. It is read for the final answer, which stands in <answer></answer>.',
    },
  },
  required: ['completion'],
}

const QUESTION = {
  type: 'string',
  title: 'Question',
  description: 'The instructions of the run and the question, as text of one user message.',
}
const OBSERVATION_SCHEMA = {
  title: 'ReasoningGymObservation',
  type: 'object',
  properties: {
    question: QUESTION,
    reward: { ...NUMBER_OR_NULL, default: null, description: 'What to train on; null before the completion.' },
    done: { type: 'boolean', default: false, description: 'True once the completion has a score.' },
    metadata: {
      type: 'object',
      description: 'IDs of item and episode, task, difficulty, messages; after a step also score, answer and fault.',
    },
  },
  required: ['question'],
}

const STATE_SCHEMA = {
  title: 'ReasoningGymState',
  type: 'object',
  properties: {
    episode_id: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    step_count: { type: 'integer', minimum: 0, default: 0 },
    item_id: { type: 'string', description: 'ID of the item of the episode.' },
    done: { type: 'boolean', description: 'Whether the episode has its reward.' },
  },
}

const SCHEMAS = {
  action: ACTION_SCHEMA,
  observation: OBSERVATION_SCHEMA,
  reset_observation: OBSERVATION_SCHEMA,
  state: STATE_SCHEMA,
}

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const operation = (operationId: string, summary: string, answer: object, body?: object) => ({
  operationId,
  summary,
  ...(body && { requestBody: json(body) }),
  responses: { 200: { description: 'OK', ...json(answer) } },
})

const RESULT_SCHEMA = {
  type: 'object',
  properties: {
    observation: { type: 'object', properties: { question: QUESTION } },
    reward: NUMBER_OR_NULL,
    done: { type: 'boolean' },
    metadata: { type: 'object' },
  },
}

/**
 * Contains only the part of the API that OpenEnv defines, in the form that its validator expects. `/openapi.json`
 * describes the whole API.
 */
const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: { title: METADATA.name, version: CONTRACT_VERSION, description: METADATA.description },
  paths: {
    '/reset': {
      post: operation('reset', 'Begin an episode', RESULT_SCHEMA, {
        type: 'object',
        description:
          'item_id, position (of a run), split and index, task with difficulty or config, seed and index, or nothing.',
      }),
    },
    '/step': {
      post: operation('step', 'Score a completion', RESULT_SCHEMA, {
        type: 'object',
        properties: { action: ACTION_SCHEMA, item_id: { type: 'string' }, episode_id: { type: 'string' } },
        required: ['action', 'item_id'],
      }),
    },
    '/state': { get: operation('state', 'The state of a connection that has no episode', STATE_SCHEMA) },
    '/schema': { get: operation('schema', 'JSON schemas of action, observation and state', { type: 'object' }) },
    '/metadata': { get: operation('metadata', 'Name and description', { type: 'object' }) },
    '/health': { get: operation('health', 'Whether the server answers', { type: 'object' }) },
  },
}

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
    split: z.unknown().optional().describe('Split of the task API; with it, `index` is that of a task.'),
    episode_id: z
      .unknown()
      .optional()
      .describe('ID of the rollout; calls that repeat it count once. Defaults to a new ID.'),
  })
  .meta({ id: 'OpenenvReset', description: 'Item to begin an episode with.' })
  .default({})
  .describe(
    'At most one of `item_id`, `position`, `split` and `task`. With none, the next item of the run or, without a run, a random one.',
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

const PROBLEMS: ErrorCode[] = [
  'invalid_item_id',
  'invalid_config',
  'seed_reserved',
  'index_out_of_range',
  'unknown_task',
  'engine_version_mismatch',
  'task_code_conflict',
  'make_failed',
  'engine_unavailable',
  'items_not_ready',
  'make_timeout',
  'make_out_of_memory',
]

function listProblems({ idSuffix }: Mount): ErrorCode[] {
  return idSuffix === '' ? PROBLEMS : [...PROBLEMS, 'unknown_run']
}

export function addOpenenvRoutes(app: App, adapters: AdaptersFeature): void {
  addWebSocketRoutes(app, adapters)
  for (const mount of listMounts('openenv')) {
    addDocumentRoutes(app, mount)
    addEpisodeRoutes(app, adapters, mount)
    addTaskRoutes(app, adapters, mount)
  }
}

function addDocumentRoutes(app: App, mount: Mount): void {
  for (const { path, id, summary, body } of DOCUMENTS) {
    const schema = {
      ...describeOperation(mount, `getOpenenv${id}`, summary),
      description: 'Returns a fixed document for the clients of OpenEnv.',
      response: { 200: OpenenvDocument },
    }
    // The documents are names and shapes, for tools without a key.
    const config = { access: path === 'state' ? 'trainers' : 'anyone' } as const
    app.get(`${mount.base}/${path}`, { config, schema }, () => body)
  }
}

function addEpisodeRoutes(app: App, { openenv }: AdaptersFeature, mount: Mount): void {
  app.post(
    `${mount.base}/reset`,
    {
      schema: {
        ...describeOperation(mount, 'resetOpenenvEpisode', 'OpenEnv: begin an episode with an item'),
        body: ResetBody,
        response: { 200: Observation },
        problems: listProblems(mount),
        examples: { bodies: { 'A task': EXAMPLE_RECIPE } },
      },
    },
    async ({ body, params: given, caller }, reply) =>
      sendObservation(reply, openenv.environment.reset({ run: getRun(given), caller }, body)),
  )

  app.post(
    `${mount.base}/step`,
    {
      bodyLimit: STEP_BODY_BYTES,
      schema: {
        ...describeOperation(mount, 'stepOpenenvEpisode', 'OpenEnv: score a completion'),
        body: StepBody,
        response: { 200: Observation },
        problems: listProblems(mount),
        examples: {
          bodies: { 'A completion': { item_id: EXAMPLE_ITEM_ID, action: { completion: CORRECT_COMPLETION } } },
        },
      },
    },
    async ({ body, params: given, caller }, reply) => {
      const { action, item_id, episode_id } = body
      const data = {
        ...(item_id !== undefined && { item_id }),
        ...(episode_id !== undefined && { episode_id }),
        ...action,
      }
      return sendObservation(
        reply,
        openenv.environment.stepOnce({ run: getRun(given), caller }, data, observeDelivery(reply)),
      )
    },
  )
}

/** What a frame is rejected for is a bad request here. */
async function sendObservation(reply: FastifyReply, work: Promise<ObservationData>): Promise<FastifyReply> {
  try {
    return sendJsonText(reply, formatObservation(await work))
  } catch (error) {
    if (error instanceof FrameRejection) throw new ServiceError('invalid_request', error.message, { cause: error })
    throw error
  }
}
