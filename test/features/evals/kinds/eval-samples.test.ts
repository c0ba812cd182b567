/** Samples of evals whose worker stalls for so long that another one processes the same sample. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { generateSamplesJob } from '../../../../src/features/evals/concurrency.ts'
import { openWorld, type World } from '../../../world.ts'
import { startHoldingModel } from '../choosing-model.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** One turn of the only slot of an eval, in a worker of its own. */
async function takeTurn(job: string): Promise<void> {
  const work = world.features.evals.createWork()
  const consumer = work.consumers.find(({ definition }) => definition.name === generateSamplesJob.name)
  const attempt = { attempt: 1, isLastAttempt: false, signal: new AbortController().signal }
  await consumer?.run({ job, slot: 0 }, attempt)
  await work.close?.()
}

it('of two answers to a sample the first is scored, and is the one to read', async () => {
  const model = await startHoldingModel()
  const { body } = await world.call('POST', '/eval', {
    model: { name: 'm', base_url: model.url },
    suite: { tasks: ['gcd'], n: 1 },
    concurrency: 1,
  })
  const turns = [takeTurn(body.id), takeTurn(body.id)]
  await model.answer(1, '<answer>first</answer>')
  await Promise.race(turns)
  await model.answer(0, '<answer>second</answer>')
  await Promise.all(turns)
  expect((await world.call('GET', `/eval/${body.id}`)).body).toMatchObject({ status: 'done', progress: { done: 1 } })
  const sample = (await world.call('GET', `/eval/${body.id}/samples/s0`)).body
  expect(sample).toMatchObject({ answer: 'first', completion: '<answer>first</answer>' })
  model.close()
})
