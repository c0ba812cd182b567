/** Questions that a run does not hand out: those of frozen suites, and those that it has asked. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Item } from '@reasoning-gym-server/contract/item'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EvalQuestions, hashQuestion, shortenQuestionHash } from '../../../../src/features/items/eval-questions.ts'
import { createRunKeys } from '../../../../src/features/runs/records.ts'
import { openWorld, takeInOrder, until, type World } from '../../../world.ts'

const SUITES = new URL('../../../../suites/', import.meta.url)
const NAMES = readdirSync(SUITES).filter((name) => name.endsWith('.tsv'))
const LINES = NAMES.flatMap((name) => readFileSync(new URL(name, SUITES), 'utf8').trimEnd().split('\n'))
const CLEAN = { preset: 'clean', complexity_mode: 'none', group_size: 2, batch_size: 4 }

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

async function take(run: string, count: number, from = world): Promise<Item[]> {
  const list: Item[] = []
  while (list.length < count)
    list.push(...((await from.call('POST', '/items', { run, count: count - list.length })).body.items ?? []))
  return list
}
const takeStep = async (run: string, step: number, count: number, from = world): Promise<Item[]> =>
  (
    await until(
      () => from.call('POST', '/items', { run, step, count }, { prefer: 'wait=20' }),
      ({ status }) => status === 200,
    )
  ).body.items
const questions = (list: Item[]) => list.map(({ question }) => question)
const ids = (list: Item[]) => list.map(({ id }) => id)
const put = async (run: string, settings: object) =>
  expect((await world.call('PUT', `/runs/${run}`, { ...CLEAN, ...settings })).status).toBe(201)

/** Some of their questions are in suites. */
const CONFIGS = {
  prime_factorization: { min_value: 4, max_value: 10 },
  coin_flip: { min_trials: 1, max_trials: 30 },
}

/** Items of frozen suites, made over HTTP. */
async function askSuiteQuestions(task: string): Promise<Set<string>> {
  const recipes = LINES.map((line) => line.split('\t')[0] ?? '').filter((id) => id.startsWith(`${task}.`))
  const made = await Promise.all(recipes.map((id) => world.call('GET', `/items/${id}`)))
  return new Set(made.map(({ body }) => body.question))
}

describe('a run that excludes eval items', () => {
  it.each(['prime_factorization', 'coin_flip'] as const)(
    'hands out no question of %s that a suite has',
    async (task) => {
      const held = await askSuiteQuestions(task)
      await put(`held-${task}`, {
        tasks: [
          { task, difficulty: 0 },
          { task: 'chain_sum', difficulty: 0 },
        ],
      })
      const asked = questions(await take(`held-${task}`, 60)).filter((question) => held.has(question))
      expect(asked).toEqual([])
      // without the setting some of them come: the test would see it
      await put(`open-${task}`, {
        tasks: [{ task, config: CONFIGS[task] }],
        exclude_eval_items: false,
        avoid_repeated_items: false,
      })
      expect(questions(await take(`open-${task}`, 60)).some((question) => held.has(question))).toBe(true)
    },
  )
})

it('the hashes are those of the questions that the engine makes for the suites', async () => {
  const sampled = NAMES.flatMap((name) => {
    const lines = readFileSync(new URL(name, SUITES), 'utf8').trimEnd().split('\n')
    const quick = lines.filter((line) => /^(gcd|chain_sum|leg_counting|countdown|coin_flip)\./.test(line))
    return [0, 1, 2].flatMap((k) => quick[Math.floor((k * quick.length) / 3)] ?? [])
  })
  const evalQuestions = new EvalQuestions()
  expect(sampled.length).toBeGreaterThanOrEqual(2 * NAMES.length)
  for (const line of sampled) {
    const { body } = await world.call('GET', `/items/${line.split('\t')[0]}`)
    expect(evalQuestions.hasHash(shortenQuestionHash(hashQuestion(body.question))), line).toBe(true)
    expect(evalQuestions.hasHash(shortenQuestionHash(hashQuestion(`${body.question} `)))).toBe(false)
  }
})

/** It asks four questions. */
const FEW = { tasks: [{ task: 'count_bits', config: { min_n: 1, max_n: 4 } }], exclude_eval_items: false }
/** Some hundred questions, of which many come twice in a hundred items. */
const MANY = {
  tasks: [
    { task: 'lcm', config: { min_value: 2, max_value: 10 } },
    { task: 'gcd', config: { min_value: 2, max_value: 10 } },
  ],
}

describe('a run that avoids repeated items', () => {
  it('asks no question twice while there are fresh ones, and then goes on', async () => {
    await put('few', FEW)
    const asked = questions(await takeInOrder(world, 'few', 24))
    const distinct = new Set(asked)
    expect(new Set(asked.slice(0, distinct.size))).toEqual(distinct)
    expect(asked.length).toBeGreaterThan(distinct.size)
    const { progress } = (await world.call('GET', '/runs/few')).body
    expect(progress.repeated_items).toBeGreaterThanOrEqual(asked.length - distinct.size)
    expect(progress.passed_over_seeds).toMatchObject({ eval_item: 0, repeat: expect.any(Number) })
    expect(progress.passed_over_seeds.repeat).toBeGreaterThanOrEqual(16 * (asked.length - distinct.size))
    expect(progress.skipped_positions).toBe(0)
  })

  it('gives several nodes and callers, by step or not, the items that one caller would get', async () => {
    await put('alone', MANY)
    const alone = [...(await takeStep('alone', 0, 40)), ...(await takeStep('alone', 1, 40))]
    expect(new Set(questions(alone)).size).toBe(80)
    await put('shared', MANY)
    const [first, second] = await Promise.all([takeStep('shared', 0, 40), takeStep('shared', 0, 40, node)])
    expect(second).toEqual(first)
    expect(ids([...first, ...(await takeStep('shared', 1, 40, node))])).toEqual(ids(alone))
    await put('called', MANY)
    const calls = Array.from({ length: 8 }, (_, k) => take('called', 10, k % 2 ? node : world))
    expect(new Set(questions((await Promise.all(calls)).flat())).size).toBe(80)
  })

  it('goes on with the same items after a restored checkpoint, and after its processes were killed', async () => {
    await put('before', MANY)
    const first = await takeStep('before', 0, 30)
    const checkpoint = (await world.call('GET', '/runs/before/checkpoint')).body
    const rest = await takeStep('before', 1, 40)
    expect(new Set(questions([...first, ...rest])).size).toBe(70)
    for (const name of ['restored', 'killed']) {
      expect((await world.call('PUT', `/runs/${name}/checkpoint`, checkpoint)).status).toBe(200)
      if (name === 'killed') await killMakers(name)
      expect(await takeStep(name, 0, 30)).toEqual(first)
      expect(await takeStep(name, 1, 40)).toEqual(rest)
    }
  })
})

/** As if each process died: what it was making is not made, and what was made stays. */
async function killMakers(run: string): Promise<void> {
  const { redis, keys } = world.platform
  const { epoch } = await world.features.runs.runs.require(run)
  const { positionStates, itemBodies } = createRunKeys(keys).forRun(run, epoch)
  const open = Object.keys(await redis.hgetall(positionStates)).toSorted((a, b) => Number(a) - Number(b))
  for (const position of open.filter((_, k) => k % 3 !== 0)) {
    const unmade = JSON.stringify({ opened: Date.now(), claimed_until: 0, attempts: 0 })
    await redis.multi().hset(positionStates, position, unmade).hdel(itemBodies, position).exec()
  }
}

it('a task whose every question is held out is skipped and says so; the others go on', async () => {
  const only = { task: 'string_synthesis', config: { min_initial_blocks: 1, max_initial_blocks: 1 } } // asks one question
  await put('only', { tasks: [only] })
  const none = await until(
    () => world.call('POST', '/items', { run: 'only', count: 1 }),
    ({ body }) => body.detail.includes('skipped'), // on a busy machine the first call is too early
  )
  expect(none).toMatchObject({ status: 503, body: { code: 'items_not_ready' } })
  expect(none.body.detail).toMatch(/string_synthesis.*exclude_eval_items/)
  await put('mixed', { tasks: [only, { task: 'gcd', difficulty: 0.5 }] })
  expect(new Set((await take('mixed', 10)).map(({ task }) => task))).toEqual(new Set(['gcd']))
  expect((await takeStep('mixed', 0, 8)).map(({ task }) => task)).toEqual(Array(8).fill('gcd'))
  const { progress, skipped } = (await world.call('GET', '/runs/mixed')).body
  expect(progress.skipped_reasons).toEqual({ failed: 0, eval_item: progress.skipped_positions })
  expect(progress.skipped_positions).toBeGreaterThan(0)
  expect(skipped[0]).toMatchObject({ task: 'string_synthesis', reason: 'eval_item' })
})

it('the preset original hands out what it always did', async () => {
  await world.call('PUT', '/runs/original', { tasks: FEW.tasks })
  const items = await takeInOrder(world, 'original', 20)
  expect(new Set(questions(items)).size).toBeLessThan(10)
  const seeds = items.map((item) => item.recipe.seed)
  expect(seeds).toEqual(seeds.map((_, k) => (seeds[0] ?? 0) + k))
  for (const id of ids(items)) expect(decodeItemId(id).seed).toBeGreaterThanOrEqual(2 ** 31)
})
