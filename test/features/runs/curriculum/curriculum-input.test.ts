import type { Item } from '@reasoning-gym-server/contract/item'
import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keysOf, openWorld, takeItems, until, type World } from '../../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

const next = (run: string, count = 1): Promise<Item[]> => takeItems(world, run, count)
const right = async ({ id }: Item): Promise<string> => (await world.call('GET', `/items/${id}?reveal=true`)).body.answer

/** Posts a group of which a share is right, and waits until it is scored. */
async function answer(run: string, item: Item, share: number, size = 10): Promise<void> {
  const correct = await right(item)
  const rollouts = Array.from({ length: size }, (_, k) => ({
    completion: `<answer>${k < share * size ? correct : 'zzz'}</answer>`,
  }))
  const { body } = await world.call('POST', '/rollouts', { run, item_id: item.id, rollouts }, { prefer: 'wait=20' })
  expect(body.status).toBe('scored')
}

const level = async (run: string, task = 'chain_sum') =>
  (await world.call('GET', `/runs/${run}`)).body.tasks[task]?.difficulty
const history = async (run: string): Promise<CurriculumPoint[]> =>
  (await world.call('GET', `/runs/${run}/history`)).body.points

describe('the modes', () => {
  it('none hands out the library’s defaults, fixed its rung, random the whole ladder', async () => {
    await world.call('PUT', '/runs/none', { tasks: ['chain_sum'] })
    expect((await next('none'))[0]).toMatchObject({ difficulty: null, recipe: { config: {} } })
    await world.call('PUT', '/runs/fixed', { tasks: ['chain_sum'], complexity_mode: 'fixed', difficulty: 1 })
    const { body: task } = await world.call('GET', '/tasks/chain_sum')
    expect((await next('fixed'))[0]).toMatchObject({ difficulty: 1, recipe: { difficulty: 1 } })
    const hardest = (await world.call('POST', '/items', { task: 'chain_sum', difficulty: 1 })).body.items[0].recipe
      .config
    expect((await next('fixed'))[0]?.recipe.config).toEqual(hardest)
    expect(task.ladder.at(-1).difficulty).toBe(1)
    await world.call('PUT', '/runs/random', { tasks: ['chain_sum'], complexity_mode: 'random' })
    const difficulties = (await next('random', 40)).map(({ difficulty }) => difficulty ?? -1)
    expect(Math.min(...difficulties)).toBeLessThan(0.2)
    expect(Math.max(...difficulties)).toBeGreaterThan(0.8)
  })

  it('a task may have its weight, its config, its range', async () => {
    await world.call('PUT', '/runs/special', {
      complexity_mode: 'random',
      tasks: [
        { task: 'chain_sum', weight: 3, difficulty: [0.4, 0.6] },
        { task: 'gcd', config: { max_value: 50 } },
        { task: 'lcm', weight: 0 },
      ],
    })
    const items = await next('special', 80)
    const of = (name: string) => items.filter(({ task }) => task === name)
    expect(of('chain_sum').length).toBeGreaterThan(of('gcd').length)
    expect(of('lcm')).toEqual([])
    for (const { recipe } of of('gcd')) expect(recipe.config).toEqual({ max_value: 50 })
    for (const { difficulty } of of('chain_sum')) expect(Math.abs((difficulty ?? 0) - 0.5)).toBeLessThanOrEqual(0.1)
  })
})

describe('the curriculum', () => {
  it('moves as the original’s rule says', async () => {
    await world.call('PUT', '/runs/moves', { tasks: ['chain_sum'], complexity_mode: 'curriculum' })
    for (const share of [1, 1, 1]) await answer('moves', (await next('moves'))[0] as Item, share)
    // Three right groups: accuracy 1, stability 1, below 0.5 and above 0.9: up by 0.1.
    expect(await level('moves')).toBeCloseTo(0.4, 12)
    await answer('moves', (await next('moves'))[0] as Item, 0.5)
    // [1, 1, 1, .5]: mean .875, population std .2165, stability .7835: above .75, so up by .05 of it.
    const stability = 1 - Math.sqrt((3 * 0.125 ** 2 + 0.375 ** 2) / 4)
    expect(await level('moves')).toBeCloseTo(0.4 + 0.05 * stability, 12)
    const points = await history('moves')
    expect(points.map(({ score }) => score)).toEqual([1, 1, 1, 0.5])
    expect(points.map(({ difficulty }) => difficulty)).toEqual([
      0.3,
      0.3,
      expect.closeTo(0.4, 12),
      expect.closeTo(0.4 + 0.05 * stability, 12),
    ])
  })

  it('is fed once by a group that is delivered twice, and not by what it did not hand out or what comes late', async () => {
    await world.call('PUT', '/runs/fed', { tasks: ['chain_sum'], complexity_mode: 'curriculum' })
    const [first, late] = (await next('fed', 2)) as [Item, Item]
    await answer('fed', first, 1)
    await answer('fed', first, 1)
    expect(await history('fed')).toHaveLength(1)
    const [foreign] = (await world.call('POST', '/items', { task: 'chain_sum', difficulty: 0.3, seed: 5 })).body.items
    await answer('fed', foreign, 1)
    expect(await history('fed')).toHaveLength(1)
    for (let k = 0; k < 2; k++) await answer('fed', (await next('fed'))[0] as Item, 1)
    expect(await level('fed')).toBeCloseTo(0.4, 12)
    await answer('fed', late, 0)
    expect(await history('fed')).toHaveLength(3)
  })

  it('of two runs share nothing, and one that is deleted is forgotten', async () => {
    await world.call('PUT', '/runs/gone', { tasks: ['chain_sum'], complexity_mode: 'curriculum' })
    await answer('gone', (await next('gone'))[0] as Item, 1)
    expect((await world.call('GET', '/runs')).body.runs.map(({ run }: { run: string }) => run)).toContain('gone')
    expect((await world.call('DELETE', '/runs/gone')).status).toBe(204)
    expect((await world.call('GET', '/runs/gone')).body.code).toBe('unknown_run')
    expect(await history('moves')).toHaveLength(4)
    await until(
      () => keysOf(world.platform.redis, `{${world.prefix}:run:gone}*`),
      (keys) => keys.length === 0,
    )
  })
})
