import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createGenerationJobKeys } from '../../../src/features/evals/records.ts'
import { computeSuiteHash } from '../../../src/features/evals/suites.ts'
import { hashQuestion } from '../../../src/features/items/eval-questions.ts'
import { openWorld, until, type World } from '../../world.ts'

// `npm run suites -- --verify` makes all items of all suites again; here the small ones whole, and every 211th of the others.

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const file = (name: string) => new URL(`../../../suites/${name}`, import.meta.url)

async function questionsOf(ids: string[]): Promise<string[]> {
  const { items } = world.features.items
  const made = await items.make(await Promise.all(ids.map((id) => items.resolveItemId(id))))
  return made.map(({ question }) => hashQuestion(question))
}

it('the hash of a suite is that of its file', () => {
  const { suites } = world.features.evals
  expect(suites.list()).toHaveLength(12)
  for (const { name, sha256, items } of suites.list()) {
    const text = readFileSync(file(`${name}.tsv`), 'utf8')
    expect([name, createHash('sha256').update(text).digest('hex')]).toEqual([name, sha256])
    expect([name, text.trimEnd().split('\n').length]).toEqual([name, items])
    const ids = suites.listItems(name).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  }
})

it.each(['smoke', 'original'])('the engine makes the suite %s as it was frozen', async (name) => {
  const { suites } = world.features.evals
  const ids = suites.listItems(name).map(({ id }) => id)
  const questions = await questionsOf(ids)
  expect(computeSuiteHash(ids.map((id, k) => ({ id, questionHash: questions[k] ?? '' })))).toBe(
    suites.require(name).sha256,
  )
})

it.each(['full', 'full-2', 'ladder-2', 'ladder-3', 'easy-2', 'easy-3', 'hard-2', 'hard-3'])(
  'the engine makes items of the suite %s as they were frozen',
  async (name) => {
    const some = world.features.evals.suites.listItems(name).filter((_, k) => k % 211 === 0)
    expect(await questionsOf(some.map(({ id }) => id))).toEqual(some.map(({ questionHash }) => questionHash))
  },
  60_000,
)

it('no question comes twice in a suite', () => {
  const { suites } = world.features.evals
  const doubled = suites.list().filter(({ name }) => {
    const hashes = suites.listItems(name).map(({ questionHash }) => questionHash)
    return new Set(hashes).size < hashes.length
  })
  expect(doubled.map(({ name }) => name)).toEqual([])
})

it('a suite without flawed items keeps the others, and has hardly an item that its own struck list names', () => {
  const { suites } = world.features.evals
  for (const [before, after] of [
    ['full', 'full-2'],
    ['easy-2', 'easy-3'],
    ['hard-2', 'hard-3'],
    ['ladder-2', 'ladder-3'],
  ] as const) {
    const flaws = new Map(suites.listStruck(before).map(({ id, flaw }) => [id, flaw]))
    const later = new Set(suites.listItems(after).map(({ id }) => id))
    for (const { id } of suites.listItems(before))
      if (flaws.get(id) !== 'several_readings') expect(later.has(id)).toBe(!flaws.has(id))
    // Where hardly any item has one reading, those with a note stay.
    expect(new Set(suites.listStruck(after).map(({ flaw }) => flaw))).toEqual(new Set(['several_readings']))
    expect(suites.listStruck(after).length).toBeLessThan(flaws.size / 3)
  }
})

it('the server’s own suites have seeds that no client and no training item has', () => {
  const { suites } = world.features.evals
  const seedsOf = (name: string) => new Set(suites.listRecipes(name).map(({ seed }) => seed))
  for (const name of ['original', 'original-2', 'full', 'full-2', 'ladder-2', 'ladder-3', 'smoke', 'smoke-2'])
    for (const seed of seedsOf(name)) expect(seed >= 2 ** 30 && seed < 2 ** 31).toBe(true)
  for (const name of ['easy-2', 'easy-3', 'hard-2', 'hard-3']) expect([...seedsOf(name)]).toEqual([45])
})

it('an eval fails if an item differs from the frozen one, and names the item', async () => {
  const { redis, keys } = world.platform
  const spoil = async (id: string): Promise<string> => {
    const { items } = createGenerationJobKeys(keys).forGenerationJob(id)
    const line = (await redis.lindex(items, 0)) ?? ''
    await redis.lset(items, 0, line.replace(/.{8}$/, '00000000'))
    return line.split('\t')[0] ?? ''
  }
  const brought = (await world.call('POST', '/eval', { model: null, suite: 'smoke' })).body
  const item = await spoil(brought.id)
  const answer = await world.call('GET', `/eval/${brought.id}/items`)
  expect(answer.body).toMatchObject({ code: 'engine_version_mismatch', detail: expect.stringContaining(item) })
  const nobody = { name: 'm', base_url: 'http://127.0.0.1:9/v1' }
  const called = (await world.call('POST', '/eval', { model: nobody, suite: 'smoke', concurrency: 1 })).body
  await spoil(called.id)
  world.startWorker()
  for (const id of [brought.id, called.id]) {
    const failed = await until(
      async () => (await world.call('GET', `/eval/${id}`)).body,
      ({ status }) => status === 'failed',
    )
    expect(failed.detail).toContain(item)
  }
})
