/** The routes whose responses are not parsed as they are sent: see src/http/validation.ts. */

import { Batch } from '@reasoning-gym-server/contract/batch'
import { ScoreResponse } from '@reasoning-gym-server/contract/score'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RolloutsResponse } from '../../routes/rollouts.ts'
import { openWorld, type World } from '../world.ts'

let world: World
let itemId: string

beforeAll(async () => {
  world = await openWorld({ worker: true })
  itemId = (await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
  await world.call('PUT', '/runs/hot', {
    batch_size: 4,
    advantage: 'mean_std',
    keep_groups: 100,
    min_trained_tokens: 0,
  })
})
afterAll(() => world.close())

const rollouts = [
  { completion: '<answer>100</answer>', tokens: [1, 2, 3], masks: [-100, 2, 3], logprobs: [null, -0.25, -1.5] },
  { completion: 'no tags', length_tokens: 40, finish_reason: 'length', extra: { kept: [1, null] } },
  { messages: [{ role: 'assistant', content: '<answer>7</answer>' }], arrays: { refs: [0.5] }, policy_version: 3 },
  { completion: '', finish_reason: 'error' },
]
const group = (group_id: string, more: object = {}) => ({ item_id: itemId, group_id, rollouts, ...more })

const gcd = { recipe: { task: 'gcd', seed: 1 } }
const scoreBodies: Record<string, () => object> = {
  'rollouts by ID, recipe, messages and answer': () => ({
    rollouts: [
      { item_id: itemId, completion: 'x' },
      { ...gcd, messages: [{ role: 'assistant', content: '<answer>1</answer>' }] },
      { ...gcd, answer: '1' },
    ],
  }),
  groups: () => ({ groups: [{ ...gcd, completions: ['', '<answer>1</answer>'] }], dual_format: false }),
  'rewards alone': () => ({ rollouts: [{ ...gcd, completion: 'x' }], detail: 'rewards' }),
}

it.each(Object.entries(scoreBodies))('the response of POST /score to %s matches its schema', async (_name, body) => {
  const response = await world.call('POST', '/score', body())
  expect(response.status).toBe(200)
  expect(ScoreResponse.parse(response.body)).toEqual(response.body)
})

const rolloutBodies: Record<string, () => object> = {
  'one group': () => group('first', { policy_version: 1, extra: 'mine' }),
  'several groups': () => ({
    groups: [
      group('first', { policy_version: 1, extra: 'mine' }),
      group('no-signal', { rollouts: [rollouts[1], rollouts[1]] }),
    ],
  }),
  'a group without a completion': () => group('none', { rollouts: [rollouts[3]] }),
}

it.each(
  Object.entries(rolloutBodies).flatMap(([name, body]) =>
    ['wait=0', 'wait=20'].map((prefer) => [name, prefer, body] as const),
  ),
)('the response of POST /rollouts to %s with %s matches its schema', async (_name, prefer, body) => {
  const response = await world.call('POST', '/rollouts', { run: 'hot', ...body() }, { prefer })
  expect(prefer === 'wait=20' ? [200] : [200, 202]).toContain(response.status)
  expect(RolloutsResponse.parse(response.body)).toEqual(response.body)
})

it.each(['', '?arrays=base64'])('the responses of POST and GET batches%s match their schema', async (query) => {
  const posted = await world.call('POST', `/runs/hot/batches${query}`, { step: 0, final: true })
  const read = await world.call('GET', `/runs/hot/batches/0${query}`)
  const share = await world.call('GET', `/runs/hot/batches/0${query === '' ? '?' : `${query}&`}rank=0&ranks=2`)
  for (const response of [posted, read, share]) {
    expect(response.status).toBe(200)
    expect(Batch.parse(response.body)).toEqual(response.body)
  }
  expect(posted.body.groups.length).toBeGreaterThan(0)
})
