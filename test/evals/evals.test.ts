import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPretendModel } from '../../src/pretend-model/pretend-model.ts'
import { EvalView } from '../../src/words/eval.ts'
import { openWorld, until, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

it('a model that is always right has a mean of 1 on the suite smoke', async () => {
  const model = await startPretendModel({ server: knowledge, accuracy: 1 })
  const { status, body } = await world.call('POST', '/eval', {
    model: { name: 'm', base_url: model.url },
    suite: 'smoke',
  })
  expect([status, body]).toMatchObject([202, { status: 'queued' }])
  const done = await until(
    async () => (await world.call('GET', `/eval/${body.id}`)).body,
    ({ status }) => status === 'done',
  )
  expect(EvalView.parse(done)).toEqual(done)
  expect(done.result).toMatchObject({
    mean_score: 1,
    stderr: 0,
    accuracy: 1,
    n: 20,
    scored: 20,
    missing: 0,
    unscored: 0,
  })
  await model.close()
})

async function knowledge(text: string) {
  const { status, body } = await world.call('POST', '/items/find', { text })
  return status === 200 ? body : undefined
}
