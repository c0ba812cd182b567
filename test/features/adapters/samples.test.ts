import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { retryUntil } from '../../../src/features/adapters/trainer-calls.ts'
import { HANGING, openWorld, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ SCORE_DEADLINE_MS: 300 })
})
afterAll(() => world.close())

const makeItem = async (task: string, seed: number) => {
  const { body } = await world.call('POST', '/items', { task, seed })
  return body.items[0].id as string
}
const tagged = (answer: string) => `<answer>${answer}</answer>`

it('a sample that cannot be scored does not affect the others of its call', async () => {
  const legs = await makeItem('leg_counting', 42) // its answer is 100
  const hanging = await makeItem(HANGING.task, 1)
  const { status, body } = await world.call('POST', '/samples', {
    adapter: 'areal',
    samples: [
      { item_id: legs, completion: tagged('100'), rollout_id: 'a' },
      { item_id: 'no such item', completion: tagged('100') },
      { item_id: null, completion: tagged('100') },
      { item_id: hanging, answer: HANGING.answer },
      { item_id: legs, messages: [{ role: 'assistant', content: tagged('1000') }] },
      { item_id: legs, completion: 'a hundred', length_tokens: 3, finish_reason: 'stop' },
    ],
  })
  expect(status).toBe(200)
  expect(body.rewards).toEqual([1, null, null, null, 0.75, 0])
  const both = [HANGING.answer, '5'].map((answer) => ({ item_id: hanging, answer }))
  expect((await world.call('POST', '/samples', { samples: both })).body.rewards).toEqual([null, 0])
  expect((await world.call('POST', '/samples', { samples: both, unscored: 'mean' })).body.rewards).toEqual([0, 0])
  expect(body.verdicts[0]).toEqual({ status: 'scored', reward: 1, score: 1, answer: '100', fault: null, penalty: 0 })
  expect(body.verdicts.map(({ code, fault }: { code?: string; fault?: string }) => code ?? fault)).toEqual([
    null,
    'invalid_item_id',
    'invalid_item_id',
    'scorer_timeout',
    null,
    'no_answer',
  ])
  const { payload: metrics } = await world.app.inject('/metrics')
  expect(metrics).toContain('rgs_unscored_total{adapter="areal",code="scorer_timeout"} 1')
})

it('the settings of the run apply to its samples', async () => {
  await world.call('PUT', '/runs/lenient', { extraction: 'bare' })
  const item_id = await makeItem('leg_counting', 42)
  const { body } = await world.call('POST', '/runs/lenient/samples', { samples: [{ item_id, completion: '100' }] })
  expect(body.rewards).toEqual([1])
})

it('a misspelled field is refused', async () => {
  const { status, body } = await world.call('POST', '/samples', { samples: [{ item_id: 'x', completions: 'y' }] })
  expect([status, body.code]).toEqual([400, 'invalid_request'])
})

it('calls that are held for an outage end when the server closes', async () => {
  const closing = new AbortController()
  const away = new ServiceError('redis_unavailable', 'away')
  let tries = 0
  const held = retryUntil(
    Number.POSITIVE_INFINITY,
    async () => {
      if (++tries === 2) closing.abort()
      throw away
    },
    closing.signal,
  )
  await expect(held).rejects.toBe(away)
  expect(tries).toBe(2)
})
