import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { computeStepMetrics } from '../../../../src/features/runs/metrics.ts'
import { createRunKeys } from '../../../../src/features/runs/records.ts'
import { divideSums, type StatisticSums } from '../../../../src/grading/group-statistics.ts'
import { openWorld, takeItems, until, type World } from '../../../world.ts'
import { writeLargeRun } from './large-run.ts'

const [RUN, STEPS, GROUPS, SIZE] = ['long', 70, 4, 8]
const TASKS = ['gcd', 'leg_counting', 'sudoku']

let world: World
let sums: StatisticSums[]

beforeAll(async () => {
  world = await openWorld({ worker: true })
  await world.call('PUT', `/runs/${RUN}`, { tasks: TASKS })
  const { redis, keys } = world.platform
  sums = await writeLargeRun(redis, keys, {
    run: RUN,
    tasks: TASKS,
    steps: STEPS,
    groupsPerStep: GROUPS,
    groupSize: SIZE,
  })
})
afterAll(() => world.close())

type Row = Record<string, number>
async function readRows<T = Row>(path: string): Promise<T[]> {
  const { payload } = await world.app.inject({ method: 'GET', url: path })
  return payload
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}

const total = (steps: StatisticSums[]): StatisticSums => {
  const all: StatisticSums = {}
  for (const step of steps) for (const [field, sum] of Object.entries(step)) all[field] = (all[field] ?? 0) + sum
  return all
}
const closeTo = (metrics: Row) =>
  Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, expect.closeTo(value, 9)]))

describe('metrics', () => {
  it('in a limited number of rows are those of all groups in each row, without those per task', async () => {
    const rows = await readRows(`/runs/${RUN}/metrics?points=10`)
    expect(rows).toHaveLength(9)
    for (const [k, row] of rows.entries()) {
      const place = { step: Math.min(STEPS, 8 * k + 8) - 1, first_step: 8 * k, width: 8 }
      const metrics = computeStepMetrics(place, divideSums(total(sums.slice(8 * k, 8 * k + 8))))
      const flat = Object.entries(metrics).filter(([name]) => !name.startsWith('task/'))
      expect(row).toEqual(closeTo(Object.fromEntries(flat)))
    }
    expect(await readRows(`/runs/${RUN}/metrics?points=10&from=56`)).toEqual(rows.slice(-2))
    expect(await readRows(`/runs/${RUN}/metrics?points=10`)).toEqual(rows) // now from the memory of the process
  })

  it('of each step have those per task', async () => {
    const rows = await readRows(`/runs/${RUN}/metrics?from=3&to=4`)
    expect(rows).toEqual([3, 4].map((step) => closeTo(computeStepMetrics({ step }, divideSums(sums[step] ?? {})))))
    expect(rows[0]).toHaveProperty('task/gcd/reward')
    expect(rows[0]).toHaveProperty(['pass_at/8'])
  })

  it('by task have the mean of each step, with its interval over the groups, and its rung and lengths', async () => {
    await world.call('PUT', '/runs/tabled', {
      tasks: [{ task: 'gcd', difficulty: 0.5 }, 'leg_counting'],
      min_trained_tokens: 0,
      buffer: false,
    })
    const { body } = await world.call('POST', '/items', { run: 'tabled', count: 12, step: 0 }, { prefer: 'wait=60' })
    const items: { id: string; task: string }[] = body.items
    const post = async (item: { id: string } | undefined, right: number, wrong: number) => {
      const { answer } = (await world.call('GET', `/items/${item?.id}?reveal=true`)).body
      const rollouts = Array.from({ length: right + wrong }, (_, k) => ({
        completion: k < right ? `<answer>${answer}</answer>` : '<answer>none</answer>',
        length_tokens: 10 * k,
      }))
      await world.call('POST', '/rollouts', { run: 'tabled', item_id: item?.id, rollouts }, { prefer: 'wait=20' })
    }
    const gcd = items.filter(({ task }) => task === 'gcd')
    for (const [k, right] of [0, 1, 2, 4].entries()) await post(gcd[k], right, 4 - right)
    await post(
      items.find(({ task }) => task === 'leg_counting'),
      1,
      1,
    )
    const [first, second, ...others] = await readRows('/runs/tabled/metrics?by=task')
    expect(others).toEqual([])
    const mean = 7 / 16
    const half = 3.182446305 * (Math.sqrt([0, 0.25, 0.5, 1].reduce((sum, x) => sum + (x - mean) ** 2, 0) / 3) / 2)
    expect(first).toEqual({
      step: 0,
      task: 'gcd',
      groups: 4,
      rollouts: 16,
      'reward/mean': mean,
      'reward/low': expect.closeTo(mean - half, 9),
      'reward/high': expect.closeTo(mean + half, 9),
      'score/mean': mean,
      'score/frac_correct': mean,
      'difficulty/mean': expect.closeTo(0.5, 1),
      'length/mean': 15,
    })
    expect(second).toMatchObject({ task: 'leg_counting', groups: 1, rollouts: 2, 'reward/mean': 0.5 })
    expect(second).not.toHaveProperty('reward/low') // a single group says nothing about others
    const checkpoint = await world.call('GET', '/runs/tabled/checkpoint')
    await world.call('PUT', '/runs/untabled/checkpoint', checkpoint.body)
    expect(await readRows('/runs/untabled/metrics?by=task')).toEqual([first, second])
    const merged = await readRows(`/runs/${RUN}/metrics?by=task&points=1`)
    expect(merged.map(({ task, width }) => [task, width])).toEqual(TASKS.map((task) => [task, 128]))
  })

  it('of a run without steps are over time, and stay with it in a checkpoint', async () => {
    await world.call('PUT', '/runs/timed', { tasks: ['gcd'] })
    const items = await takeItems(world, 'timed', 10)
    const rollouts = [
      { completion: '<answer>1</answer>', length_tokens: 5 },
      { completion: 'no answer', length_tokens: 9 },
    ]
    for (const { id } of items)
      await world.call('POST', '/rollouts', { run: 'timed', item_id: id, rollouts }, { prefer: 'wait=20' })
    const rows = await readRows('/runs/timed/metrics?points=100')
    expect(rows.map(({ first_group, groups, width }) => [first_group, groups, width])).toEqual([
      [1, 8, 1],
      [9, 2, 1],
    ])
    for (const { time } of rows) expect(Math.abs((time ?? 0) - Date.now() / 1000)).toBeLessThan(60)
    expect(rows[0]).not.toHaveProperty('step')
    expect(await readRows('/runs/timed/metrics')).toMatchObject([{ step: 0, groups: 10 }]) // as for any logger
    await world.call('PUT', '/runs/by-url', { tasks: ['gcd'], group_size: 1 })
    for (const { id: label } of items)
      await world.call('POST', '/slime/by-url/rm', { response: '<answer>1</answer>', label })
    const byUrl = await until(
      () => readRows('/runs/by-url/metrics'),
      (found) => found.reduce((sum, { groups = 0 }) => sum + groups, 0) === 10,
    )
    expect(byUrl.map(({ first_group, step }) => [first_group, step])).toEqual([
      [1, undefined],
      [9, undefined],
    ])
    const [all] = await readRows('/runs/timed/metrics?points=1')
    expect(all).toMatchObject({ first_group: 1, groups: 10, rollouts: 20 })
    const checkpoint = await world.call('GET', '/runs/timed/checkpoint')
    await world.call('PUT', '/runs/restored/checkpoint', checkpoint.body)
    expect(await readRows('/runs/restored/metrics?points=100')).toEqual(rows)
  })
})

it('histograms count each rollout once', async () => {
  const rows = await readRows<{ rewards: number[]; correct_lengths: number[]; wrong_lengths: number[] }>(
    `/runs/${RUN}/histograms?points=10`,
  )
  const count = (values: number[]) => values.reduce((sum, value) => sum + value, 0)
  expect(rows).toHaveLength(9)
  for (const { rewards, correct_lengths, wrong_lengths } of rows) {
    expect(rewards).toHaveLength(10)
    expect(count(correct_lengths) + count(wrong_lengths)).toBe(count(rewards))
    expect(count(correct_lengths)).toBe(rewards[9])
  }
  expect(rows.reduce((sum, { rewards }) => sum + count(rewards), 0)).toBe(STEPS * GROUPS * SIZE)
})

it('metrics by task are means over the groups of each column', async () => {
  for (const metric of ['reward', 'score', 'accuracy', 'difficulty']) {
    const { body } = await world.call('GET', `/runs/${RUN}/task-metrics?columns=5&metric=${metric}`)
    expect(body.columns).toHaveLength(5)
    expect(Object.keys(body.tasks)).toEqual(TASKS)
    const first = total(sums.slice(0, 16))
    const wanted =
      metric === 'difficulty'
        ? (first['task_difficulty:gcd'] ?? 0) / (first['task_difficulty_count:gcd'] ?? 1)
        : (first['task_score:gcd'] ?? 0) / (first['task_scored:gcd'] ?? 1)
    expect(body.tasks.gcd[0]).toBeCloseTo(wanted, 4)
  }
})

it('the sums of a deleted run are removed', async () => {
  const { redis, keys } = world.platform
  const runKeys = createRunKeys(keys)
  const run = runKeys.forRun('timed', Number(await redis.hget(runKeys.run('timed'), 'epoch')))
  expect(await redis.hlen(run.blockSums)).toBe(2)
  await world.call('DELETE', '/runs/timed')
  await expect.poll(() => redis.exists(run.metricBlocks, run.blockSums), { timeout: 20_000 }).toBe(0)
})
