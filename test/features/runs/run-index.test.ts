import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { openWorld, until, type World } from '../../world.ts'

let world: World
let itemId: string
beforeAll(async () => {
  world = await openWorld()
  const made = await world.call('POST', '/items', { task: 'leg_counting', seed: 3 })
  itemId = made.body.items[0].id
})
afterAll(() => world.close())

const begin = async (...runs: string[]) => {
  for (const run of runs) expect((await world.call('PUT', `/runs/${run}`, { tasks: ['chain_sum'] })).status).toBe(201)
}
const post = async (run: string) => {
  const body = { run, item_id: itemId, group_id: 'g', rollouts: [{ completion: 'x' }, { completion: 'y' }] }
  expect((await world.call('POST', '/rollouts', body)).status).toBe(202)
}
const toSweep = async () => (await world.features.runs.index.listToSweep()).toSorted()
const runSchedule = (name: string) =>
  world.features.runs
    .createWork()
    .scheduledTasks?.find((task) => task.name === name)
    ?.run()
/** As if all runs were used long ago. */
const age = async () => {
  const { redis, keys } = world.platform
  for (const name of await toSweep()) await redis.zadd(createRunKeys(keys).runsToSweep, 1, name)
}
const sweepLater = async () => {
  await age()
  await runSchedule('sweep-epochs')
}

it('the sweeps visit a run that was used lately, or has something left to do, and no other', async () => {
  await begin('idle', 'busy')
  await post('busy')
  await runSchedule('sweep-epochs')
  expect(await toSweep()).toEqual(['busy', 'idle'])
  await sweepLater()
  expect(await toSweep()).toEqual(['busy'])
  world.startWorker()
  await until(
    () => world.call('GET', '/rollouts/g?run=busy'),
    ({ body }) => body.status === 'scored',
  )
  await world.stopWorkers()
  await until(
    async () => {
      await sweepLater()
      return toSweep()
    },
    (names) => names.length === 0,
  )
})

it('a run is added before its work is stored, so that no crash leaves work that no sweep finds', async () => {
  await begin('crashed')
  await sweepLater()
  expect(await toSweep()).toEqual([])
  const { groups } = world.features.rollouts
  const run = await world.features.runs.runs.require('crashed')
  const payload = {
    metadata: '',
    texts: Buffer.alloc(0),
    arrays: Buffer.alloc(0),
    contentHash: 'h',
    policyVersion: null,
    textBytes: 0,
  }
  const params = { revision: -1, rollouts: 1, forBuffer: true, maxGroups: 1, serverFull: false, lease: undefined }
  const ref = { run: run.name, epoch: run.epoch, group: 'g' }
  expect(await groups.accept(ref, payload, params)).toBe('run_changed') // as far as a killed process gets
  expect(await toSweep()).toEqual(['crashed'])
})

it('the repair adds the runs with work that the index lacks', async () => {
  await begin('known', 'forgotten')
  await post('forgotten')
  const { redis, keys } = world.platform
  const { runsByActivity, runsToSweep } = createRunKeys(keys)
  await redis.del(runsByActivity)
  await redis.del(runsToSweep)
  await runSchedule('repair-run-index')
  expect(await toSweep()).toEqual(['forgotten'])
  const listed = await world.features.runs.index.listByActivity()
  expect(listed.filter(({ usedAt }) => usedAt === 0)).toEqual([])
  expect(listed[0]?.name).toBe('forgotten')
})
