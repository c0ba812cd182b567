import type { Eval } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { EVAL_SEEDS_START, TRAINING_SEEDS_START } from '@reasoning-gym-server/contract/recipe'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openWorld, type World } from '../../world.ts'

let world: World
let ofSuite: string[]
beforeAll(async () => {
  world = await openWorld()
  ofSuite = (await world.call('GET', '/eval/suites/smoke')).body.recipes.map(({ id }: { id: string }) => id)
})
afterAll(() => world.close())

/** Runs an eval of a model that has an item right if `knows` it. */
async function measure(body: object, knows: (id: string, index: number) => boolean): Promise<Eval & { ids: string[] }> {
  const { id } = (await world.call('POST', '/eval', { model: null, suite: 'smoke', ...body })).body
  const { items } = (await world.call('GET', `/eval/${id}/items`)).body
  const ids: string[] = items.map(({ item_id }: { item_id: string }) => item_id)
  const completions = await Promise.all(
    items.map(async ({ sample_id, item_id }: { sample_id: string; item_id: string }, k: number) => {
      const { answer } = (await world.call('GET', `/items/${encodeURIComponent(item_id)}?reveal=true`)).body
      return { sample_id, completion: `<answer>${knows(item_id, k) ? answer : 'no idea'}</answer>` }
    }),
  )
  await world.call('POST', `/eval/${id}/completions`, { completions })
  return { ...(await world.call('POST', `/eval/${id}/finish`)).body, ids }
}

it('a model that knows the suite by heart is found out on new items of the same kinds', async () => {
  const { id, suite, result, ids } = await measure({ twin: true }, (item) => ofSuite.includes(item))
  expect(suite.items).toBe(ofSuite.length)
  expect(ids).toHaveLength(2 * ofSuite.length)
  for (const [k, item] of ids.slice(ofSuite.length).entries()) {
    const { seed, ...twin } = decodeItemId(item)
    const { seed: before, ...recipe } = decodeItemId(ids[k] ?? '')
    expect(twin).toEqual(recipe)
    expect(seed).not.toBe(before)
    expect(seed).toBeGreaterThanOrEqual(EVAL_SEEDS_START)
    expect(seed).toBeLessThan(TRAINING_SEEDS_START)
  }
  expect(result).toMatchObject({ items: ofSuite.length, n: ofSuite.length })
  expect(result?.mean_score).toBeGreaterThan(0.9)
  expect(result?.twin).toMatchObject({ n: ofSuite.length, verdict: 'memory_shown' })
  expect(result?.twin?.difference).toBeGreaterThan(0.5)
  const report = await world.app.inject({ method: 'GET', url: `/eval/${id}/report` })
  expect(report.body).toContain('the model remembers items of the suite')
})

it('a model with skill shows no memory, and its eval compares with those without a twin', async () => {
  const half = (_item: string, k: number) => (k % ofSuite.length) % 2 === 0
  const a = await measure({ twin: true }, half)
  const b = await measure({}, half)
  expect(a.result?.twin).toMatchObject({ verdict: 'no_memory_shown' })
  expect(b.result?.twin).toBeNull()
  expect(a.suite.sha256).toBe(b.suite.sha256)
  const { body } = await world.call('GET', `/eval/compare?a=${a.id}&b=${b.id}`)
  expect(body).toMatchObject({ n: ofSuite.length, difference: 0 })
})

it('only frozen suites have twins', async () => {
  const { body } = await world.call('POST', '/eval', { model: null, suite: { tasks: ['gcd'] }, twin: true })
  expect(body).toMatchObject({ code: 'invalid_request', errors: [{ path: 'twin' }] })
})

it('the result is an entry of .eval_results, if it measures the model', async () => {
  const done = await measure({}, (_item, k) => k % 2 === 0)
  const { id, result } = done
  const file = await world.app.inject({ url: `/eval/${id}/hub-results?dataset=my-org/bench` })
  expect(file.headers['content-type']).toContain('application/yaml')
  expect(parse(file.body)).toEqual([
    {
      dataset: { id: 'my-org/bench', task_id: 'smoke' },
      value: Number(result?.mean_score?.toFixed(6)),
      date: done.ended_at,
      notes: expect.stringMatching(
        /^mean score in \[0, 1\] of \d+ items with 1 sample each; 95% interval .*; upstream scoring; reasoning-gym /,
      ),
    },
  ])
  expect(await world.call('GET', `/eval/${id}/hub-results`)).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'dataset' }] },
  })
  const { body: open } = await world.call('POST', '/eval', { model: null, suite: { tasks: ['gcd'], n: 1 } })
  expect(await world.call('GET', `/eval/${open.id}/hub-results?dataset=my-org/bench`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', detail: expect.stringContaining('only an eval that is done') },
  })
  const { body: empty } = await world.call('POST', `/eval/${open.id}/finish`)
  expect(empty).toMatchObject({ status: 'done', result: { mean_score: null } })
  expect(await world.call('GET', `/eval/${open.id}/hub-results?dataset=my-org/bench`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', detail: expect.stringContaining('none of its samples has a score') },
  })
})
