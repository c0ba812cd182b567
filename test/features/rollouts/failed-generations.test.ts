/** Generations that failed, and items that cannot be scored: unscored, and at no cost for others. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

it('a rollout whose generation failed is unscored, and so is a message of which nothing can be read', async () => {
  const recipe = { task: 'leg_counting', seed: 42 }
  const [item] = (await world.call('POST', '/items', recipe)).body.items
  await world.call('PUT', '/runs/reasons', { group_size: 3 })
  const { body } = await world.call('POST', '/rollouts?run=reasons', {
    item_id: item.id,
    rollouts: [
      { completion: '', finish_reason: 'network_error' },
      { messages: [{ role: 'assistant', content: [{ type: 'image_url', image_url: 'x' }] }] },
      { completion: 'x', finish_reason: 'content_filter' },
    ],
  })
  const { verdicts } = await until(
    async () => (await world.call('GET', `/runs/reasons/groups/${body.group_id}`)).body,
    ({ status }) => status === 'scored',
  )
  expect(verdicts.map(({ status, code }: { status: string; code?: string }) => [status, code])).toEqual([
    ['unscored', 'generation_failed'],
    ['unscored', 'generation_failed'],
    ['scored', undefined],
  ])
})

it('the finish reason of SGLang is an object', async () => {
  const [{ id }] = (await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items
  const rollouts = [
    { completion: '<answer>100', finish_reason: { type: 'length', length: 8 } },
    { completion: '<answer>100', finish_reason: { type: 'stop', matched: '</answer>' } },
    { completion: '', finish_reason: { type: 'abort', message: 'out of memory', status_code: 500 } },
  ]
  await world.call('PUT', '/runs/sglang', { stop: '</answer>', group_size: 3 })
  const group = { run: 'sglang', item_id: id, rollouts }
  const posted = await world.call('POST', '/rollouts', group, { prefer: 'wait=20' })
  expect(posted.body.rewards).toEqual([0, 1, null])
  const samples = rollouts.map((rollout) => ({ item_id: id, ...rollout }))
  expect((await world.call('POST', '/runs/sglang/samples', { samples })).body.rewards).toEqual([0, 1, null])
  const wrong = { ...group, rollouts: [{ completion: '', finish_reason: { matched: 1 } }] }
  expect((await world.call('POST', '/rollouts', wrong)).status).toBe(400)
})

it.each(['upstream', 'hardened'])(
  'an item of which no rule can be made costs its own completions (%s)',
  async (scoring) => {
    const [large, larger] = [2 ** 53, 2 ** 55]
    const config = { min_value: large, max_value: large + 8, min_target: 1, max_target: larger }
    const { body } = await world.call('POST', '/score', {
      scoring,
      rollouts: [
        { recipe: { task: 'countdown', config, seed: 1 }, answer: '1' },
        { recipe: { task: 'survo', config: { min_num: 10 ** 14, max_num: 2 * 10 ** 15 }, seed: 1 }, answer: '1' },
        { recipe: { task: 'leg_counting', seed: 42 }, answer: '100' },
      ],
    })
    const unscored = { status: 'unscored', code: 'scorer_crashed', detail: expect.stringContaining('2^53') }
    expect(body.verdicts).toMatchObject([unscored, unscored, { status: 'scored', score: 1 }])
  },
)

it('hardened scoring pays the reference of countdown with large numbers', async () => {
  const config = { min_value: 10 ** 13, max_value: 2 * 10 ** 13, min_target: 1, max_target: 9 * 10 ** 15 }
  const [{ id }] = (await world.call('POST', '/items', { task: 'countdown', config, seed: 1 })).body.items
  const { answer } = (await world.call('GET', `/items/${encodeURIComponent(id)}?reveal=true`)).body
  const { body } = await world.call('POST', '/score', { scoring: 'hardened', rollouts: [{ item_id: id, answer }] })
  expect(body.rewards).toEqual([1])
})
