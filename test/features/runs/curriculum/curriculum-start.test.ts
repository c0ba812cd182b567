import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRunKeys } from '../../../../src/features/runs/records.ts'
import { keysOf, openWorld, takeItems, type World } from '../../../world.ts'

const TASK = 'chain_sum'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

/** An eval of ten items of a difficulty; undefined: of the library's defaults. `isRight` undefined: answers have no tags. */
async function measure(difficulty: number | undefined, isRight?: boolean, finish = true): Promise<string> {
  const suite = { tasks: [TASK], n: 10, ...(difficulty !== undefined && { difficulty }) }
  const { body } = await world.call('POST', '/eval', { model: null, suite })
  const wanted = (await world.call('GET', `/eval/${body.id}/items`)).body.items as {
    sample_id: string
    item_id: string
  }[]
  const completions = await Promise.all(
    (finish ? wanted : wanted.slice(1)).map(async ({ sample_id, item_id }) => {
      const { answer } = (await world.call('GET', `/items/${item_id}?reveal=true`)).body
      return { sample_id, completion: isRight === undefined ? answer : `<answer>${isRight ? answer : 'no'}</answer>` }
    }),
  )
  expect((await world.call('POST', `/eval/${body.id}/completions`, { completions })).status).toBe(200)
  if (finish) expect((await world.call('POST', `/eval/${body.id}/finish`)).body.status).toBe('done')
  return body.id
}

const put = (run: string, settings: object) =>
  world.call('PUT', `/runs/${run}`, { tasks: [TASK], complexity_mode: 'frontier', ...settings })
const taskOf = async (run: string) => (await world.call('GET', `/runs/${run}`)).body.tasks[TASK]
const nextDifficulty = async (run: string): Promise<number> => (await takeItems(world, run, 1))[0]?.difficulty ?? -1

describe('curriculum_start', () => {
  it('starts tasks where an eval saw the model, and keeps the start when the eval is gone', async () => {
    const strong = await measure(0.7, true)
    const weak = await measure(0.3, false)
    await put('unstarted', {})
    expect((await put('strong', { curriculum_start: { eval: strong } })).status).toBe(201)
    await put('weak', { curriculum_start: { eval: weak } })
    const middle = await nextDifficulty('unstarted')
    expect(await nextDifficulty('strong')).toBeGreaterThan(middle)
    expect(await nextDifficulty('weak')).toBeLessThan(middle)
    await put('untagged', { curriculum_start: { eval: await measure(0.3) } }) // its wrong format says nothing about the level
    expect(await nextDifficulty('untagged')).toBe(middle)
    expect(await taskOf('strong')).toMatchObject({ groups: 0, accuracy: null, place: expect.any(Number) })

    const { redis, keys } = world.platform
    const stored = await keysOf(redis, `*{*generation-job:${strong}*`)
    await Promise.all(stored.map((key) => redis.del(key)))
    expect((await put('strong', { curriculum_start: { eval: strong }, group_size: 4 })).body.changed).toEqual([
      'group_size',
    ])
    expect(await nextDifficulty('strong')).toBeGreaterThan(middle)
    expect((await put('later', { curriculum_start: { eval: strong } })).body).toMatchObject({ code: 'unknown_eval' })
    const fork = (name: string, id: string) =>
      world.call('POST', '/runs/unstarted/fork', { name, settings: { curriculum_start: { eval: id } } })
    expect((await fork('fork', strong)).body).toMatchObject({ code: 'unknown_eval' })
    expect((await fork('fork', weak)).status).toBe(201)
    expect(await nextDifficulty('fork')).toBe(await nextDifficulty('weak'))

    // A start that is replaced or taken back leaves tasks alone that a group has moved.
    expect((await put('weak', { curriculum_start: null })).status).toBe(200)
    expect(await nextDifficulty('weak')).toBe(middle)
    const { epoch } = await world.features.runs.runs.require('unstarted')
    const run = createRunKeys(keys).forRun('unstarted', epoch)
    const piece = { step: 0, time: '', task: TASK, score: 1, rollouts: 8, formatted: 1, difficulty: middle, floor: 0 }
    await redis.rpush(run.frontierEvidence, JSON.stringify(piece))
    const moved = (await taskOf('unstarted')).difficulty
    await put('unstarted', { curriculum_start: { eval: weak } })
    expect((await taskOf('unstarted')).difficulty).toBe(moved)
  })

  it('refuses an eval that has not ended, or that measured nothing on a ladder', async () => {
    const errors = [{ path: 'curriculum_start.eval' }]
    const open = await measure(0.7, true, false)
    expect((await put('refused', { curriculum_start: { eval: open } })).body).toMatchObject({
      code: 'invalid_request',
      errors,
    })
    const defaults = await measure(undefined, true)
    expect((await put('refused', { curriculum_start: { eval: defaults } })).body).toMatchObject({
      code: 'invalid_request',
      errors,
    })
    expect((await world.call('GET', '/runs/refused')).status).toBe(404)
  })
})
