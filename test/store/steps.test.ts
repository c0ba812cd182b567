import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, it } from 'vitest'
import { keysUnder } from '../../src/store/keys.ts'
import { keysLike } from '../../src/store/nodes.ts'
import { connectForWork } from '../../src/store/redis.ts'
import { Runs } from '../../src/store/runs.ts'
import { Steps } from '../../src/store/steps.ts'

const prefix = `t${randomUUID().slice(0, 8)}`
const keys = keysUnder(prefix)
const redis = connectForWork({ url: inject('redisUrl'), prefix: '' })
const runs = new Runs(redis, keys)
const steps = new Steps(redis, keys)
afterAll(async () => {
  for await (const { node, keys: some } of keysLike(redis, `*${prefix}*`)) await node.unlink(...some)
  redis.disconnect()
})

it('a trainer that begins again below all steps that are remembered is given the same items whenever it asks', async () => {
  await runs.change('again', undefined, {}, { restart: false, remake: false })
  const run = await runs.find('again')
  if (!run) throw new Error('it was made')
  const positions = async (step: number) => (await steps.assign(run, step, 2, 0))?.map(({ position }) => position)
  for (let step = 1000; step < 1300; step++) await positions(step)
  const first = await positions(0)
  expect(first).toEqual([600, 601])
  expect(await positions(0)).toEqual(first)
  expect(await positions(1299)).toEqual([598, 599])
  expect(await redis.zcard(keys.ofRun('again', run.epoch).steps)).toBeLessThanOrEqual(256)
})
