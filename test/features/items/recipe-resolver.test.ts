import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { expect, it } from 'vitest'
import { RecipeResolver } from '../../../src/features/items/recipe-resolver.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCatalog } from '../../../src/features/tasks/task-catalog.ts'

/** A library whose only default is `size: 3`. */
function openResolver(ladders = new Ladders()) {
  const engine = {
    version: '1.0',
    versionOf: () => '1.0',
    taskProblems: [],
    generateItems: async () => [],
    generateEach: () => [],
    score: async () => [],
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

it('an item keeps its config when the ladder changes, whatever its difficulty means now', async () => {
  const before = new Ladders(writeLadders({ gcd: { rungs: 2, fields: { size: [1, 9] } } }))
  const after = new Ladders(writeLadders({ gcd: { rungs: 3, fields: { size: [2, 4, 8] } } }))
  const id = encodeItemId(await openResolver(before).resolve({ ...PLAIN, difficulty: 1 }))
  expect(await openResolver(after).resolveItemId(id)).toMatchObject({ config: { size: 9 }, difficulty: 1 })
  expect(await openResolver(after).resolve({ ...PLAIN, difficulty: 1 })).toMatchObject({ config: { size: 8 } })
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
  await refused({ task: 'no_such_task' }, 'engine_unavailable') // it may be a custom task, not loaded yet
})

function writeLadders(ladders: object): string {
  const file = join(mkdtempSync(join(tmpdir(), 'ladders-')), 'ladders.json')
  writeFileSync(file, JSON.stringify(ladders))
  return file
}
