/** Positions whose first seed has no item to train on take another of their seeds, the same on every node. */

import type { Item } from '@reasoning-gym-server/contract/item'
import { findNovelConclusion } from '@reasoning-gym-server/scorers/hardened/propositional-logic'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../../../world.ts'

let world: World
let node: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
  node = await openWorld({ prefix: world.prefix })
})
afterAll(async () => {
  await node.close()
  await world.close()
})

const put = (run: string, settings: object) => world.call('PUT', `/runs/${run}`, settings)
const takeStep = async (run: string, step: number, count: number, from = world): Promise<Item[]> =>
  (
    await until(
      () => from.call('POST', '/items', { run, step, count }, { prefer: 'wait=20' }),
      ({ status }) => status === 200,
    )
  ).body.items
const ids = (items: Item[]) => items.map(({ id }) => id)

it('a seed at which the library raises costs the sequence no position, whoever makes it', async () => {
  const config = { min_grid_size: 5, max_grid_size: 5, min_dist: 6, max_dist: 6 } // one seed in nine has none
  for (const run of ['one', 'other']) await put(run, { tasks: [{ task: 'maze', config }], seed: 3 })
  const items = await takeStep('one', 0, 40)
  expect(ids(await takeStep('other', 0, 40, node))).toEqual(ids(items))
  const { progress, skipped } = (await world.call('GET', '/runs/one')).body
  expect([progress.skipped_positions, skipped]).toEqual([0, []])

  const checkpoint = (await world.call('GET', '/runs/one/checkpoint')).body
  expect(checkpoint.sequence.issued.chunks[0].retries.some((retry: number) => retry > 0)).toBe(true)
  expect((await world.call('PUT', '/runs/restored/checkpoint', checkpoint)).status).toBe(200)
  expect(ids(await takeStep('restored', 0, 40, node))).toEqual(ids(items)) // made again
})

it('under hardened scoring every item of propositional_logic has an answer that is paid', async () => {
  const tasks = [{ task: 'propositional_logic', difficulty: 0 }]
  await put('clean', { preset: 'clean', tasks })
  await put('original', { tasks })
  const conclusionsOf = async (run: string) => {
    const revealed = (await takeStep(run, 0, 30)).map(({ id }) => world.call('GET', `/items/${id}?reveal=true`))
    return (await Promise.all(revealed)).map(({ body }) => ({ item_id: body.id, answer: findNovelConclusion(body) }))
  }
  const rollouts = await conclusionsOf('clean')
  const { rewards } = (await world.call('POST', '/score', { scoring: 'hardened', rollouts })).body
  expect(rewards).toEqual(Array(30).fill(1))
  expect((await conclusionsOf('original')).some(({ answer }) => answer === undefined)).toBe(true)
  expect((await world.call('GET', '/runs/clean')).body.progress.skipped_positions).toBe(0)
})

it('a task without any item to train on is skipped and says why', async () => {
  const config = { min_grid_size: 5, max_grid_size: 5, min_dist: 20, max_dist: 20 }
  await put('none', {
    tasks: [
      { task: 'maze', config },
      { task: 'gcd', weight: 9 },
    ],
  })
  expect(new Set((await takeStep('none', 0, 12)).map(({ task }) => task))).toEqual(new Set(['gcd']))
  const { skipped } = (await world.call('GET', '/runs/none')).body
  expect(skipped[0]).toMatchObject({ task: 'maze', reason: 'failed', detail: expect.stringContaining('RuntimeError') })
})
