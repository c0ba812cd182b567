/** Examples of the calls of Atropos, shared by the default store, named stores and runs. */
import type { OperationExample } from '../src/http/openapi/examples.ts'

const SCORED_GROUP = { tokens: [[1, 2, 3]], masks: [[-100, 2, 3]], scores: [1], env_id: 0 }
const BODIES: Record<string, unknown> = {
  register: { batch_size: 32, max_token_len: 2048 },
  'register-env': { max_token_length: 2048, desired_name: 'puzzles', group_size: 16 },
  'disconnect-env': { env_id: 0 },
  scored_data: SCORED_GROUP,
  scored_data_list: [SCORED_GROUP],
}
const READS = ['', '/batch', '/info', '/wandb_info', '/status', '/latest_example', '/reset_data', '/status-env']
const PREFIXES = ['/atropos', '/atropos/stores/{run}', '/atropos/{run}']

export const ATROPOS_EXAMPLES: Record<string, OperationExample> = Object.fromEntries(
  PREFIXES.flatMap((prefix) => {
    const path = prefix.includes('{run}') ? { path: { run: 'demo' } } : {}
    const posts = Object.entries(BODIES).map(([name, body]) => [
      `POST ${prefix}/${name}`,
      { ...path, bodies: { 'An example': body } },
    ])
    const ofEnvironment = { ...path, query: { env_id: '0' } }
    return [...posts, ...READS.map((name) => [`GET ${prefix}${name}`, name === '/status-env' ? ofEnvironment : path])]
  }),
)
