/** A run that lasts as long as the soak: groups without a trainer, dump files that are read and deleted, exports. Dashboards show it. */
import type { CreateActor } from '../actor.ts'
import { buildGroups } from './rollouts.ts'

export const STEADY_RUN = 'steady'
export const STEADY_RUN_SETTINGS = {
  tasks: ['leg_counting', 'chain_sum', 'simple_integration'],
  group_size: 4,
  buffer: false,
  keep_groups: 100,
  min_trained_tokens: 0,
  dump_rollouts: 'all',
}
const MAX_DUMP_FILES = 5

export const createSteadyRun: CreateActor = (client, random) => ({
  name: 'steady run',
  everyMs: 1_500,
  async round() {
    const asked = await client.call('POST /items of a run', 'POST', '/items', { body: { run: STEADY_RUN, count: 2 } })
    for (const group of await buildGroups(client, random, asked.body.items ?? [], 4)) {
      await client.call('POST /rollouts', 'POST', '/rollouts', {
        body: { run: STEADY_RUN, ...group },
        headers: { prefer: 'wait=20' },
      })
    }
  },
})

export const createFileReader: CreateActor = (client) => ({
  name: 'dumps and exports',
  everyMs: 10_000,
  async round() {
    const { body } = await client.call('GET /dumps', 'GET', `/dumps?run=${STEADY_RUN}`)
    const names: string[] = (body.files ?? []).map(({ name }: { name: string }) => name)
    const newest = names.at(-1)
    if (newest !== undefined) await client.call('GET /dumps/{name}', 'GET', `/dumps/${newest}`)
    for (const name of names.slice(0, -MAX_DUMP_FILES))
      await client.call('DELETE /dumps/{name}', 'DELETE', `/dumps/${name}`)
    await client.call('GET …/export', 'GET', `/runs/${STEADY_RUN}/export?format=sft`)
    for (const path of ['/tasks', '/runs', '/readyz', '/metrics', '/openapi.json'])
      await client.call(`GET ${path}`, 'GET', path)
  },
})
