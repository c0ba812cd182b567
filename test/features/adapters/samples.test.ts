import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { retryUntil } from '../../../src/features/adapters/trainer-calls.ts'
import { HANGING, keysOf, openWorld, until, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ SCORE_DEADLINE_MS: 300, worker: true })
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
  expect((await world.call('POST', '/samples', { samples: both, unscored: 'mean' })).status).toBe(503)
  const ofSuite = { item_id: hanging.replace('.1.', `.${2 ** 30}.`), answer: HANGING.answer }
  expect((await world.call('POST', '/samples', { samples: [ofSuite], unscored: 'mean' })).body.rewards).toEqual([0])
  expect(body.verdicts[0]).toEqual({
    status: 'scored',
    reward: 1,
    score: 1,
    answer: '100',
    fault: null,
    components: { correct: 1, format: 1, length_penalty: 0, try_discount: 0 },
  })
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

describe('turns that come one at a time', () => {
  const url = '/runs/turns/samples'
  let item_id: string // its answer is 1
  const send = async (completion: string, rollout_id: string, turn: number | 'next', more: object = {}) => {
    const { status, body } = await world.call('POST', url, {
      samples: [{ item_id, rollout_id, turn, completion: tagged(completion), ...more }],
    })
    return status === 200 ? body.verdicts[0] : body
  }
  const countRollouts = async (): Promise<number> => (await world.call('GET', '/runs/turns')).body.progress.rollouts
  beforeAll(async () => {
    await world.call('PUT', '/runs/turns', {
      tries: 3,
      try_discount: 0.5,
      feedback: 'rule',
      group_size: 1,
      tasks: ['gcd'],
    })
    item_id = await makeItem('gcd', 7)
  })

  it('a wrong one has the message for the next, and the rollout counts once, with its last turn', async () => {
    const first = await send('29', 'a', 0)
    expect(first).toMatchObject({ score: 0, retry_prompt: expect.stringContaining('29 does not divide 549') })
    expect(await send('29', 'a', 0)).toEqual(first)
    expect(await countRollouts()).toBe(0)
    const last = await send('1', 'a', 1)
    expect(last).toMatchObject({ reward: 0.5, turns: [{ answer: '29' }, { answer: '1' }] })
    expect(last.retry_prompt).toBeUndefined()
    expect(await send('1', 'a', 1)).toEqual(last)
    expect(await until(countRollouts, (count) => count > 0)).toBe(1)
  })

  it('`next` comes after those that the server has, unless it is the last of them', async () => {
    await send('29', 'b', 'next')
    await send('29', 'b', 'next')
    expect((await send('30', 'b', 'next')).turns).toHaveLength(2)
    expect(await send('40', 'b', 'next')).toMatchObject({ reward: 0, turns: [{}, {}, {}] })
  })

  it('an equal one at the next place is a turn, and the first place begins again', async () => {
    for (const place of [0, 1]) expect((await send('29', 'c', place)).turns).toHaveLength(place + 1)
    expect(await send('1', 'c', 0)).toMatchObject({ reward: 1, turns: [{ answer: '1' }] })
  })

  it('those of another item with the same rollout ID are not before it', async () => {
    await send('29', 'e', 'next')
    const other = await makeItem('gcd', 8)
    expect((await send('none', 'e', 'next', { item_id: other })).turns).toEqual([
      expect.objectContaining({ answer: 'none' }),
    ])
    expect((await send('1', 'e', 'next')).turns).toHaveLength(2)
  })

  it('one without a score is sent again, and the rollout counts as the turns that have one', async () => {
    const before = await until(countRollouts, (count) => count === 4) // a, b, c and e
    await send('29', 'f', 0)
    expect(await send('30', 'f', 1, { finish_reason: 'error' })).toMatchObject({ status: 'unscored', reward: null })
    expect(await send('1', 'f', 1)).toMatchObject({ reward: 0.5, turns: [{ answer: '29' }, { answer: '1' }] })
    expect(await until(countRollouts, (count) => count > before)).toBe(before + 1)
    const [group] = (await world.call('GET', '/runs/turns/groups?limit=1')).body.groups
    expect(group.verdicts).toMatchObject([{ status: 'scored', reward: 0.5 }])
  })

  it('are kept for two hours, and for ten minutes after the last one', async () => {
    const { redis, keys } = world.platform
    const timesLeft = async () => {
      const names = await keysOf(redis, `${keys.slot('turns:turns:*:g:*')}:turns`)
      return Promise.all(names.map((name) => redis.ttl(name)))
    }
    await send('29', 'g', 0)
    expect(await timesLeft()).toEqual([expect.toSatisfy((left: number) => left > 7000 && left <= 7200)])
    await send('1', 'g', 1)
    expect(await timesLeft()).toEqual([expect.toSatisfy((left: number) => left <= 600)])
  })

  it('those before it must be there', async () => {
    expect(await send('29', 'd', 2)).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('turn 2'),
    })
  })
})

it('an item of a suite counts in no run', async () => {
  const [{ id }] = (await world.call('GET', '/eval/suites/original')).body.recipes
  await world.call('PUT', '/runs/measured', { group_size: 1 })
  const samples = [{ item_id: id, completion: tagged('1') }]
  expect((await world.call('POST', '/runs/measured/samples', { samples })).body.verdicts[0].status).toBe('scored')
  expect((await world.call('GET', '/runs/measured')).body.progress).toMatchObject({ rollouts: 0, open_groups: 0 })
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
