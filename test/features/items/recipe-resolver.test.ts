import { expect, it } from 'vitest'
import { encodeItemId } from '../../../src/contract/item-id.ts'
import { RecipeResolver } from '../../../src/features/items/recipe-resolver.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCatalog } from '../../../src/features/tasks/task-catalog.ts'

const ladders = new Ladders()

/** A library whose only default is `size: 3`. */
function openResolver() {
  const engine = {
    version: '1.0',
    canonicalizeConfig: async (_task: string, config: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(config).filter(([name, value]) => name !== 'size' || value !== 3)),
    health: () => ({ ok: false }),
    tasks: async () => ({}),
  }
  return new RecipeResolver({ engine, ladders, tasks: new TaskCatalog(engine, ladders) })
}

const PLAIN = { task: 'gcd', seed: 7, index: 0 }

it('equal recipes are the same frozen object, however they were written', async () => {
  const resolver = openResolver()
  const recipe = await resolver.resolve(PLAIN)
  expect(recipe).toEqual({ ...PLAIN, config: {}, difficulty: null, engine: '1.0' })
  const others = await Promise.all([
    resolver.resolve({ ...PLAIN }),
    resolver.resolve({ ...PLAIN, config: { size: 3 } }),
    resolver.resolve({ ...PLAIN, difficulty: null, engine: '1.0' }),
    resolver.resolve(recipe),
    resolver.resolveItemId(encodeItemId(recipe)),
  ])
  for (const other of others) expect(other).toBe(recipe)
  expect(Object.isFrozen(recipe) && Object.isFrozen(recipe.config)).toBe(true)
})

it('an item ID resolves to the object that its recipe resolves to later', async () => {
  const resolver = openResolver()
  const id = encodeItemId({ ...PLAIN, config: { size: 5 }, difficulty: null, engine: '1.0' })
  expect(await resolver.resolveItemId(id)).toBe(await resolver.resolve({ ...PLAIN, config: { size: 5 } }))
})

it('other seeds, labels and configs are other recipes', async () => {
  const resolver = openResolver()
  const recipes = await Promise.all([
    resolver.resolve(PLAIN),
    resolver.resolve({ ...PLAIN, seed: 8 }),
    resolver.resolve({ ...PLAIN, config: { size: 5 } }),
    resolver.resolve({ ...PLAIN, difficulty: 0.5, config: {}, engine: '1.0' }),
  ])
  expect(new Set(recipes).size).toBe(recipes.length)
})

it('an ID of another engine version, or of a config that is not canonical, is refused', async () => {
  const resolver = openResolver()
  const refused = async (recipe: object, code: string) =>
    expect(
      resolver.resolveItemId(encodeItemId({ ...PLAIN, config: {}, difficulty: null, engine: '1.0', ...recipe })),
    ).rejects.toMatchObject({ code })
  await refused({ engine: '0.9' }, 'engine_version_mismatch')
  await refused({ config: { size: 3 } }, 'invalid_item_id')
  await refused({ task: 'no_such_task' }, 'unknown_task')
})
