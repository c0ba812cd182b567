/**
 * An example of every call. Sent unchanged and in the order of the document, the examples form a whole session. IDs that only
 * the server assigns (evals, collections, dump files, failed jobs) are placeholders of the right form.
 */

import { readFileSync } from 'node:fs'
import { ENGINE_VERSION } from '../src/engine/version.ts'
import type { OperationExample } from '../src/http/openapi/examples.ts'
import type { ResponseExamples } from '../src/http/openapi/response-examples.ts'
import { ADAPTER_EXAMPLES } from './adapter-examples.ts'
import { CORRECT_COMPLETION, ITEM_ID, QUESTION, RECIPE } from './example-values.ts'

const WRONG_COMPLETION = '<think>Sea slugs have one leg each …</think> <answer>103</answer>'
const MODEL = { name: 'mock', base_url: 'http://127.0.0.1:9000/v1' }
const WAIT_HEADERS = { prefer: 'wait=30' }

const runParams = { run: 'demo' }
const evalParams = { id: 'eval-0123456789abcdef0123' }
const duelParams = { id: 'duel-0123456789abcdef0123' }
const modelEvalParams = { id: 'eval-fedcba9876543210fedc' }
const collectionParams = { ...runParams, id: 'collect-0123456789abcdef0123' }
const dumpParams = { name: 'reasoning_gym_environment_rollouts_00000000-0000-4000-8000-000000000000_0001.jsonl' }

export const OPERATION_EXAMPLES: Record<string, OperationExample> = {
  'GET /tasks': {},
  'GET /tasks/{task}': { path: { task: 'leg_counting' } },

  'POST /items': {
    bodies: {
      'An item of a recipe': RECIPE,
      'Three items at a difficulty': { task: 'gcd', difficulty: 0.3, seeds: [1, 2, 3] },
      'The next item of a run': { run: 'demo', count: 1 },
      'A rank’s share of the items of a step': { run: 'scratch', step: 0, count: 2, rank: 0, ranks: 2 },
    },
  },
  'GET /items/{id}': { path: { id: ITEM_ID } },
  'POST /items/find': { bodies: { 'By its question': { text: QUESTION } } },

  'POST /score': {
    bodies: {
      'Completions of an item': {
        groups: [{ item_id: ITEM_ID, completions: [CORRECT_COMPLETION, WRONG_COMPLETION, 'about a hundred'] }],
      },
      'One rollout each': {
        rollouts: [
          { recipe: RECIPE, completion: CORRECT_COMPLETION },
          { item_id: ITEM_ID, answer: '100' },
        ],
        scoring: 'hardened',
        detail: 'rewards',
      },
    },
  },

  ...ADAPTER_EXAMPLES,

  'POST /rollouts': {
    headers: WAIT_HEADERS,
    bodies: {
      'A group': {
        run: 'demo',
        group_id: 'group-1',
        item_id: ITEM_ID,
        policy_version: 0,
        rollouts: [
          { completion: CORRECT_COMPLETION, length_tokens: 24, finish_reason: 'stop' },
          { completion: WRONG_COMPLETION, length_tokens: 16, finish_reason: 'stop' },
        ],
      },
      'Several groups, one with tokens for the trainer': {
        run: 'demo',
        groups: [
          {
            item_id: ITEM_ID,
            group_id: 'group-2',
            rollouts: [
              {
                completion: CORRECT_COMPLETION,
                tokens: [1, 2, 3, 4],
                masks: [-100, -100, 3, 4],
                logprobs: [null, null, -0.5, -0.1],
              },
            ],
          },
          { item_id: ITEM_ID, group_id: 'group-3', buffer: false, rollouts: [{ completion: WRONG_COMPLETION }] },
        ],
      },
    },
  },
  'GET /rollouts/{group}': { path: { group: 'group-1' }, query: runParams, headers: WAIT_HEADERS },

  'POST /demo': { bodies: { 'A short demo': { steps: 2 } } },

  'GET /runs': {},
  'PUT /runs/{run}': {
    path: runParams,
    bodies: {
      'A curriculum over two kinds of tasks': {
        tasks: ['category:arithmetic', { task: 'leg_counting', weight: 2 }],
        complexity_mode: 'curriculum',
        batch_size: 64,
        preset: 'clean',
      },
      'One setting back to its default': { batch_size: null },
    },
    query: { restart: 'true' },
  },
  'PATCH /runs/{run}': { path: runParams, bodies: { 'The training is over': { lifecycle: 'finished' } } },
  'GET /runs/{run}': { path: runParams },
  'DELETE /runs/{run}': { path: { run: 'scratch' } },
  'GET /runs/{run}/history': { path: runParams },
  'GET /runs/{run}/metrics': { path: runParams, query: { points: '200' } },
  'GET /runs/{run}/histograms': { path: runParams },
  'GET /runs/{run}/task-metrics': { path: runParams, query: { metric: 'accuracy' } },
  'GET /runs/{run}/groups': { path: runParams },
  'GET /runs/{run}/groups/{group}': { path: { ...runParams, group: 'group-1' } },
  'GET /runs/{run}/checkpoint': { path: runParams },
  'PUT /runs/{run}/checkpoint': {
    path: { run: 'demo-restored' },
    bodies: {
      'A run that had just begun': {
        version: 4,
        engine: ENGINE_VERSION,
        run: 'demo',
        created_at: '2026-01-01T00:00:00.000Z',
        settings: { seed: 7 },
        counters: {},
        curriculum: {},
        recent_accuracies: {},
        tasks: {},
        curriculum_history: [],
        sequence: {
          position: 0,
          open: [],
          leases: [],
          requested: [],
          issued: { tasks: [], difficulties: [], chunks: [] },
          steps: [],
        },
        step_sums: [],
      },
    },
  },

  'POST /runs/{run}/batches': {
    path: runParams,
    headers: WAIT_HEADERS,
    bodies: { 'With what there is': { step: 0, policy_version: 1, final: true } },
  },
  'GET /runs/{run}/batches/{step}': { path: { ...runParams, step: '0' } },
  'POST /runs/{run}/batches/{step}/ack': { path: { ...runParams, step: '0' }, bodies: { 'At once': {} } },

  'GET /dumps': {},
  'GET /dumps/{name}': { path: dumpParams },
  'DELETE /dumps/{name}': { path: dumpParams },
  'GET /runs/{run}/export': { path: runParams, query: { format: 'sft' } },

  'POST /eval': {
    bodies: {
      'Completions of one’s own': { model: null, suite: { tasks: ['leg_counting'], n: 2 } },
      'A model behind an OpenAI-compatible server': {
        model: MODEL,
        suite: { categories: ['arithmetic'], n: 1 },
        samples_per_item: 1,
        max_tokens: 1024,
        labels: ['demo'],
      },
    },
  },
  'GET /eval': {},
  'GET /eval/suites': {},
  'GET /eval/suites/{suite}': { path: { suite: 'original' } },
  'GET /eval/suites/{suite}/dataset.jsonl': { path: { suite: 'original' } },
  'GET /eval/suites/{suite}/dataset.jsonl.gz': { path: { suite: 'original' } },
  'GET /eval/compare': { query: { a: evalParams.id, b: evalParams.id } },
  'GET /eval/compare/items': { query: { a: evalParams.id, b: evalParams.id } },
  'GET /eval/{id}': { path: evalParams },
  'DELETE /eval/{id}': { path: modelEvalParams },
  'GET /eval/{id}/events': { path: evalParams },
  'GET /eval/{id}/samples': { path: evalParams },
  'GET /eval/{id}/samples/{sample}': { path: { ...evalParams, sample: 's0' } },
  'GET /eval/{id}/report': { path: evalParams },
  'GET /eval/{id}/items': { path: evalParams },
  'POST /eval/{id}/completions': {
    path: evalParams,
    bodies: {
      'One of two': { completions: [{ sample_id: 's0', completion: CORRECT_COMPLETION, finish_reason: 'stop' }] },
    },
  },
  'POST /eval/{id}/finish': { path: evalParams, bodies: { 'The rest is missing': {} } },
  'POST /eval/{id}/resume': { path: modelEvalParams, bodies: { 'Without a key': {} } },

  'POST /duels': {
    bodies: {
      'Two models on arithmetic': {
        a: MODEL,
        b: { ...MODEL, name: 'mock-2' },
        suite: { categories: ['arithmetic'] },
        max_items: 20,
        max_tokens: 1024,
      },
    },
  },
  'GET /duels': {},
  'GET /duels/{id}': { path: duelParams },
  'DELETE /duels/{id}': { path: duelParams },
  'GET /duels/{id}/events': { path: duelParams },
  'GET /duels/{id}/items': { path: duelParams },
  'GET /duels/{id}/report': { path: duelParams },
  'POST /duels/{id}/resume': { path: duelParams, bodies: { 'Without keys': {} } },

  'POST /runs/{run}/collect': {
    path: runParams,
    bodies: { 'Two groups': { model: MODEL, groups: 2, max_tokens: 1024, timeout_s: 5, retries: 0 } },
  },
  'GET /runs/{run}/collect': { path: runParams },
  'GET /runs/{run}/collect/{id}': { path: collectionParams },
  'DELETE /runs/{run}/collect/{id}': { path: collectionParams },
  'GET /runs/{run}/collect/{id}/events': { path: collectionParams },
  'POST /runs/{run}/collect/{id}/resume': { path: collectionParams, bodies: { 'Without a key': {} } },

  'GET /livez': {},
  'GET /readyz': {},
  'GET /whoami': {},
  'GET /overview': {},
  'GET /events': {},
  'GET /metrics': {},
  'GET /jobs/failed': {},
  'POST /jobs/failed/{id}/retry': { path: { id: 'demo/1/group-1' } },
}

/** Answers that test/examples recorded from a live server, trimmed. */
export const RESPONSE_EXAMPLES = JSON.parse(
  readFileSync(new URL('./response-examples.json', import.meta.url), 'utf8'),
) as ResponseExamples
