/** Examples of the calls of adapters. */
import type { OperationExample } from '../src/http/openapi/examples.ts'
import { CORRECT_COMPLETION, ITEM_ID, QUESTION, RECIPE } from './example-values.ts'

const runParams = { run: 'demo' }

const DATASET_EXAMPLE = { query: { format: 'trl', tasks: 'category:arithmetic', difficulty: '0.3', count: '10' } }

const SAMPLES_EXAMPLE = {
  bodies: { 'A sample': { adapter: 'areal', samples: [{ item_id: ITEM_ID, completion: CORRECT_COMPLETION }] } },
}
const OPENENV_RESET_EXAMPLE = { bodies: { 'A task': RECIPE } }
const OPENENV_STEP_EXAMPLE = {
  bodies: { 'A completion': { item_id: ITEM_ID, action: { completion: CORRECT_COMPLETION } } },
}
const MCP_EXAMPLE = { bodies: { 'The tools': { jsonrpc: '2.0', id: 1, method: 'tools/list' } } }
const OPENRLHF_EXAMPLE = {
  bodies: {
    'A sample': {
      query: [`<|im_start|>user\n${QUESTION}<|im_end|>\n<|im_start|>assistant\n${CORRECT_COMPLETION}<|im_end|>`],
      prompts: [`<|im_start|>user\n${QUESTION}<|im_end|>\n<|im_start|>assistant\n`],
      labels: [ITEM_ID],
    },
  },
}
const SLIME_EXAMPLE = {
  query: { shape: 'object' },
  bodies: { 'A sample': { prompt: QUESTION, response: CORRECT_COMPLETION, label: ITEM_ID } },
}

const NEMO_GYM_EXAMPLES = {
  verify: {
    bodies: {
      'A row and a response': {
        item_id: ITEM_ID,
        responses_create_params: { input: [{ role: 'user', content: QUESTION }] },
        response: {
          output: [{ type: 'message', content: [{ type: 'output_text', text: CORRECT_COMPLETION }] }],
          usage: { output_tokens: 42 },
        },
      },
    },
  },
  seed_session: { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
  close_session: { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
  aggregate_metrics: {
    bodies: {
      'Two rewards': {
        verify_responses: [
          { reward: 1, _ng_task_index: 0 },
          { reward: 0, _ng_task_index: 0 },
        ],
      },
    },
  },
  reverify_mode: {},
}

export const ADAPTER_EXAMPLES: Record<string, OperationExample> = {
  'GET /dataset.jsonl': DATASET_EXAMPLE,
  'GET /dataset.jsonl.gz': DATASET_EXAMPLE,
  'POST /samples': SAMPLES_EXAMPLE,
  'POST /runs/{run}/samples': { path: runParams, ...SAMPLES_EXAMPLE },
  'GET /atropos/{run}': { path: runParams },
  'POST /atropos/{run}/register': {
    path: runParams,
    bodies: { 'An example': { batch_size: 32, max_token_len: 2048 } },
  },
  'GET /atropos/{run}/batch': { path: runParams },
  'GET /atropos/{run}/info': { path: runParams },
  'GET /atropos/{run}/wandb_info': { path: runParams },
  'GET /atropos/{run}/status': { path: runParams },
  'POST /openrlhf/get_reward': OPENRLHF_EXAMPLE,
  'POST /openrlhf/{run}/get_reward': { path: runParams, ...OPENRLHF_EXAMPLE },
  'POST /slime/rm': SLIME_EXAMPLE,
  'POST /slime/{run}/rm': { path: runParams, ...SLIME_EXAMPLE },
  'POST /nemo-gym/verify': NEMO_GYM_EXAMPLES.verify,
  'POST /nemo-gym/{run}/verify': { path: runParams, ...NEMO_GYM_EXAMPLES.verify },
  'POST /nemo-gym/seed_session': NEMO_GYM_EXAMPLES.seed_session,
  'POST /nemo-gym/{run}/seed_session': { path: runParams, ...NEMO_GYM_EXAMPLES.seed_session },
  'POST /nemo-gym/close_session': NEMO_GYM_EXAMPLES.close_session,
  'POST /nemo-gym/{run}/close_session': { path: runParams, ...NEMO_GYM_EXAMPLES.close_session },
  'POST /nemo-gym/aggregate_metrics': NEMO_GYM_EXAMPLES.aggregate_metrics,
  'POST /nemo-gym/{run}/aggregate_metrics': { path: runParams, ...NEMO_GYM_EXAMPLES.aggregate_metrics },
  'GET /nemo-gym/reverify_mode': NEMO_GYM_EXAMPLES.reverify_mode,
  'GET /nemo-gym/{run}/reverify_mode': { path: runParams, ...NEMO_GYM_EXAMPLES.reverify_mode },
  'GET /global_config_dict_yaml': {},
  'GET /openenv/{run}/health': { path: runParams },
  'GET /openenv/{run}/metadata': { path: runParams },
  'GET /openenv/{run}/schema': { path: runParams },
  'GET /openenv/{run}/openapi.json': { path: runParams },
  'GET /openenv/{run}/state': { path: runParams },
  'GET /openenv/{run}/ws': { path: runParams },
  'POST /openenv/reset': OPENENV_RESET_EXAMPLE,
  'POST /openenv/{run}/reset': { path: runParams, ...OPENENV_RESET_EXAMPLE },
  'POST /openenv/step': OPENENV_STEP_EXAMPLE,
  'POST /openenv/{run}/step': { path: runParams, ...OPENENV_STEP_EXAMPLE },
  'POST /openenv/mcp': MCP_EXAMPLE,
  'POST /openenv/{run}/mcp': { path: runParams, ...MCP_EXAMPLE },
  'POST /mcp': MCP_EXAMPLE,
}
