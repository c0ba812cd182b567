/** Examples of the calls of adapters. */
import type { OperationExample } from '../src/http/openapi/examples.ts'
import { CORRECT_COMPLETION, ITEM_ID, QUESTION, RECIPE } from './example-values.ts'

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

const NEMO_GYM_EXAMPLES: Record<string, OperationExample> = {
  'POST /verify': {
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
  'POST /seed_session': { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
  'POST /close_session': { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
  'POST /aggregate_metrics': {
    bodies: {
      'Two rewards': {
        verify_responses: [
          { reward: 1, _ng_task_index: 0 },
          { reward: 0, _ng_task_index: 0 },
        ],
      },
    },
  },
  'GET /reverify_mode': {},
}

const OPENENV_EXAMPLES: Record<string, OperationExample> = {
  ...Object.fromEntries(
    ['health', 'metadata', 'schema', 'openapi.json', 'state', 'ws'].map((name) => [`GET /${name}`, {}]),
  ),
  'POST /reset': OPENENV_RESET_EXAMPLE,
  'POST /step': OPENENV_STEP_EXAMPLE,
  'POST /mcp': MCP_EXAMPLE,
}
const ATROPOS_EXAMPLES: Record<string, OperationExample> = {
  ...Object.fromEntries(['', '/batch', '/info', '/wandb_info', '/status'].map((name) => [`GET ${name}`, {}])),
  'POST /register': { bodies: { 'An example': { batch_size: 32, max_token_len: 2048 } } },
}

export const ADAPTER_EXAMPLES: Record<string, OperationExample> = {
  'GET /dataset.jsonl': DATASET_EXAMPLE,
  'GET /dataset.jsonl.gz': DATASET_EXAMPLE,
  ...mount('', { 'POST /samples': SAMPLES_EXAMPLE }),
  ...mount('/runs/{run}', { 'POST /samples': SAMPLES_EXAMPLE }),
  ...mountTwice('/openrlhf', { 'POST /get_reward': OPENRLHF_EXAMPLE }),
  ...mountTwice('/slime', { 'POST /rm': SLIME_EXAMPLE }),
  ...mountTwice('/nemo-gym', NEMO_GYM_EXAMPLES),
  ...mountTwice('/openenv', OPENENV_EXAMPLES),
  ...mount('/atropos/{run}', ATROPOS_EXAMPLES),
  'GET /global_config_dict_yaml': {},
  'POST /mcp': MCP_EXAMPLE,
}

function mountTwice(base: string, examples: Record<string, OperationExample>): Record<string, OperationExample> {
  return { ...mount(base, examples), ...mount(`${base}/{run}`, examples) }
}

function mount(base: string, examples: Record<string, OperationExample>): Record<string, OperationExample> {
  const path = base.includes('{run}') ? { path: { run: 'demo' } } : {}
  return Object.fromEntries(
    Object.entries(examples).map(([operation, example]) => [
      operation.replace(' ', ` ${base}`),
      { ...path, ...example },
    ]),
  )
}
