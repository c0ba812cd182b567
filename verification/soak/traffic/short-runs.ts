/** Runs that are created, used a little and deleted, some with groups that still wait to be scored. */
import type { CreateActor } from '../actor.ts'
import { buildGroups } from './rollouts.ts'

export const createShortRuns: CreateActor = (client, random) => ({
  name: 'short runs',
  everyMs: 4_000,
  async round(k) {
    const run = `short-${k}`
    const settings = { tasks: ['leg_counting', 'codeio'], group_size: 2, batch_size: 2, complexity_mode: 'random' }
    await client.call('PUT /runs/{run}', 'PUT', `/runs/${run}`, { body: settings })
    const asked = await client.call('POST /items of a run', 'POST', '/items', { body: { run, count: 2 } })
    for (const group of await buildGroups(client, random, asked.body.items ?? [], 2)) {
      await client.call('POST /rollouts, not waited for', 'POST', '/rollouts', { body: { run, ...group } })
    }
    if (k % 2 === 0) {
      const prefer = { prefer: 'wait=5' }
      const body = { step: 0, final: true }
      await client.call('POST /runs/{run}/batches', 'POST', `/runs/${run}/batches`, { body, headers: prefer })
    }
    await client.call('DELETE /runs/{run}', 'DELETE', `/runs/${run}`)
  },
})
