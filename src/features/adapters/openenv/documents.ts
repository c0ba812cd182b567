/** Documents that OpenEnv's tools request from an environment: metadata, JSON schemas and an OpenAPI document. */
import { VERSION } from '../../../platform/installation.ts'

/** Version of OpenEnv's HTTP contract, which its validator reads here. */
const CONTRACT_VERSION = '1.0.0'

const NUMBER_OR_NULL = { anyOf: [{ type: 'number' }, { type: 'null' }] }

export const METADATA = {
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

export const SCHEMAS = {
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
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: { title: METADATA.name, version: CONTRACT_VERSION, description: METADATA.description },
  paths: {
    '/reset': {
      post: operation('reset', 'Begin an episode', RESULT_SCHEMA, {
        type: 'object',
        description: 'item_id, position (of a run), task with difficulty or config, seed and index, or nothing.',
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
    '/mcp': {
      post: operation('mcp', 'A message of the Model Context Protocol', { type: 'object' }, { type: 'object' }),
    },
  },
}
