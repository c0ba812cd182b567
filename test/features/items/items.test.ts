import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** Number of items that the engine has made for a task. */
async function countMade(task: string): Promise<number> {
  const { statistics } = world.features.tasks
  await statistics.flush()
  return (await statistics.read(task)).items
}

it('calls that need one item at the same time make it once', async () => {
  const { items } = world.features.items
  const recipe = await items.resolveRecipe({ task: 'leg_counting', seed: 11, index: 0 })
  const labeled = { ...recipe, difficulty: 0.5 } // the label is no part of the item
  const before = await countMade('leg_counting')
  const [first, second, [third, fourth]] = await Promise.all([
    items.getOrCreateOne(recipe),
    items.getOrCreateOne(labeled),
    items.getOrCreate([recipe, recipe]),
  ])
  expect(await countMade('leg_counting')).toBe(before + 1)
  expect(second).toEqual({ ...first, id: second.id, recipe: labeled })
  expect([third, fourth]).toEqual([first, first])
})

it('calls that need one item at the same time fail together, and a later call tries again', async () => {
  const { items } = world.features.items
  const recipe = await items.resolveRecipe({ task: 'leg_counting', seed: 12, index: 0 })
  const broken = { ...recipe, config: { no_such_field: 1 } }
  const outcomes = await Promise.allSettled([items.make([broken]), items.make([broken])])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(items.make([broken])).rejects.toThrow()
  expect(await items.make([recipe])).toHaveLength(1)
})
