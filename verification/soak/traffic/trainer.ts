/** A training run on two ranks: items, groups, batches, acknowledgements. It ends after some steps, is restored under another name, and deleted. */
import type { CreateActor } from '../actor.ts'
import type { SoakClient } from '../soak-client.ts'
import { buildGroups, TRAINING_TASKS } from './rollouts.ts'

const RANKS = 2
const GROUP_SIZE = 4
const ITEMS_PER_STEP = 8
const STEPS_OF_A_RUN = 12
const SETTINGS = {
  tasks: TRAINING_TASKS,
  complexity_mode: 'curriculum',
  group_size: GROUP_SIZE,
  batch_size: 16,
  min_trained_tokens: 0,
  keep_groups: 100,
}

export const createTrainer: CreateActor = (client, random) => ({
  name: 'trainer',
  everyMs: 2_000,
  async round(k) {
    const run = `train-${Math.floor(k / STEPS_OF_A_RUN)}`
    const step = k % STEPS_OF_A_RUN
    if (step === 0) await client.call('PUT /runs/{run}', 'PUT', `/runs/${run}`, { body: SETTINGS })
    const steps = step % 2 === 0 ? {} : { step }
    const asked = { body: { run, count: ITEMS_PER_STEP, ...steps } }
    const { status, body } = await client.call('POST /items of a run', 'POST', '/items', asked)
    if (status !== 200) return
    const groups = (await buildGroups(client, random, body.items, GROUP_SIZE)).map((group) => ({
      ...group,
      policy_version: step,
    }))
    const prefer = { prefer: 'wait=20' }
    await client.call('POST /rollouts', 'POST', '/rollouts', { body: { run, groups }, headers: prefer })
    await takeBatch(client, run, step)
    await client.call('GET /runs/{run}', 'GET', `/runs/${run}`)
    if (step === STEPS_OF_A_RUN - 1) await endRun(client, run)
  },
})

async function takeBatch(client: SoakClient, run: string, step: number): Promise<void> {
  const path = `/runs/${run}/batches`
  const ask = {
    body: { step, rank: 0, ranks: RANKS, final: true, policy_version: step },
    headers: { prefer: 'wait=5' },
  }
  const first = await client.call('POST /runs/{run}/batches', 'POST', path, ask)
  if (first.status !== 200) return // the run was restored or deleted meanwhile
  await client.call('GET /runs/{run}/batches/{step}', 'GET', `${path}/${step}?rank=1&ranks=${RANKS}`)
  for (let rank = 0; rank < RANKS; rank++) {
    await client.call('POST …/ack', 'POST', `${path}/${step}/ack`, { body: { rank, ranks: RANKS } })
  }
}

async function endRun(client: SoakClient, run: string): Promise<void> {
  const restored = `${run}-restored`
  await client.call('GET …/metrics', 'GET', `/runs/${run}/metrics`)
  await client.call('GET …/history', 'GET', `/runs/${run}/history`)
  await client.call('GET …/groups', 'GET', `/runs/${run}/groups`)
  const { body } = await client.call('GET …/checkpoint', 'GET', `/runs/${run}/checkpoint`)
  await client.call('PUT …/checkpoint', 'PUT', `/runs/${restored}/checkpoint`, { body })
  await client.call('POST /items of a run', 'POST', '/items', { body: { run: restored, count: 4 } })
  for (const name of [run, restored]) await client.call('DELETE /runs/{run}', 'DELETE', `/runs/${name}`)
}
