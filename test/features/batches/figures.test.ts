import { readFileSync } from 'node:fs'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

/**
 * What is posted, and what the verdicts say, gives every figure of the run, its task, the step and the batch: each
 * definition is written out here once more, as docs/design/groups-and-batches.md states it.
 */
interface PostedRollout {
  completion: string
  finish_reason?: string
  masks?: number[]
  length_tokens?: number
  policy_version?: number
}

const right = { completion: '<answer>100</answer>' }
const wrong = { completion: '<answer>1</answer>' }
const untagged = { completion: 'one hundred' }
const broken = { completion: '', finish_reason: 'error' }
const long = { ...wrong, finish_reason: 'length' }
const short = { ...right, masks: [-100, 5], tokens: [4, 5] }
const tokens = (length_tokens: number) => ({ length_tokens })

const GROUPS: { policy_version?: number; rollouts: PostedRollout[] }[] = [
  {
    policy_version: 9,
    rollouts: [{ ...right, ...tokens(40) }, { ...wrong, ...tokens(70) }, short, broken, { ...long, ...tokens(512) }],
  },
  { policy_version: 3, rollouts: [{ ...right, policy_version: 8 }, { ...right, policy_version: 7 }, untagged] },
  {
    policy_version: 3,
    rollouts: [right, { ...wrong, policy_version: 8 }].map((one) => ({ policy_version: 6, ...one })),
  },
  {
    rollouts: [
      { ...wrong, ...tokens(30) },
      { ...wrong, ...tokens(31) },
    ],
  }, // hard
  { policy_version: 8, rollouts: [right, right, short, broken] }, // easy
  { rollouts: [right, short, long, broken] }, // a voter is left
  { policy_version: 7, rollouts: [long, long, short] }, // nobody votes
  { rollouts: [right] }, // posted alone
]
const VERSIONS = [9, 3, 6, null, 8, null, 7, null]

const SETTINGS = {
  tasks: ['leg_counting'],
  batch_size: 25,
  drop_equal_scores: false,
  length_penalty: false,
}

let world: World
let posted: { rollout: PostedRollout; verdict: GroupVerdict }[][]

beforeAll(async () => {
  world = await openWorld({ worker: true })
  await world.call('PUT', '/runs/figures', SETTINGS)
  const item_id = (await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
  posted = []
  for (const [k, group] of GROUPS.entries()) {
    const body = { run: 'figures', item_id, group_id: `g${k}`, ...group }
    const { body: scored } = await world.call('POST', '/rollouts', body, { prefer: 'wait=20' })
    expect([k, scored.status, scored.destination]).toEqual([k, 'scored', 'buffered'])
    posted.push(group.rollouts.map((rollout, n) => ({ rollout, verdict: scored.verdicts[n] })))
  }
}, 120_000)
afterAll(() => world.close())

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const share = <T>(all: T[], is: (one: T) => boolean) => all.filter(is).length / all.length
const isShort = ({ masks }: PostedRollout) => masks !== undefined && masks.filter((one) => one !== -100).length < 10
const lengthOf = ({ length_tokens, masks }: PostedRollout) =>
  length_tokens ?? masks?.filter((one) => one !== -100).length
const isScored = ({ rollout }: { rollout: PostedRollout }) => rollout.finish_reason !== 'error'
const isCut = ({ finish_reason }: PostedRollout) => finish_reason === 'length'
const group = async (k: number) => (await world.call('GET', `/rollouts/g${k}?run=figures`)).body

it('a voter that is left alone has no signal and advantage 0; posted alone it has both', async () => {
  const left = await group(5)
  expect(left).toMatchObject({ voters: 1, signal: false, mean_reward: 1 })
  expect(left.verdicts.map(({ advantage }: GroupVerdict) => advantage)).toEqual([0, 0, 0, null])
  expect(await group(7)).toMatchObject({ voters: 1, signal: true, verdicts: [{ advantage: 1 }] })
})

it('groups without signal are counted by reason although they are kept', async () => {
  const { progress, tasks } = (await world.call('GET', '/runs/figures')).body
  expect(progress.no_signal).toEqual({ easy: 1, hard: 1, masked: 1, lone_voter: 1 })
  expect(tasks.leg_counting).toMatchObject({ groups: GROUPS.length, signal: 4 })
})

it('the mean score of a task is that of its groups: skipped rollouts are left out', async () => {
  const { leg_counting: task } = (await world.call('GET', '/runs/figures')).body.tasks
  const scored = posted.flat().filter(isScored)
  const counted = scored.filter(({ rollout }) => !isShort(rollout))
  expect(counted.length).toBeLessThan(scored.length)
  expect(task.rollouts).toBe(scored.length)
  expect(task.skipped).toBe(scored.length - counted.length)
  expect(task.mean_score).toBeCloseTo(mean(counted.map(({ verdict }) => verdict.score ?? 0)), 9)
  expect(task.mean_reward).toBeCloseTo(mean(scored.map(({ verdict }) => verdict.reward ?? 0)), 9)
  let [sum, count] = [0, 0]
  for (const [k, rollouts] of posted.entries()) {
    const { mean_score } = await group(k)
    const members = rollouts.filter((one) => isScored(one) && !isShort(one.rollout)).length
    sum += mean_score * members
    count += members
  }
  expect(task.mean_score).toBeCloseTo(sum / count, 9)
})

it('a checkpoint from before the skipped ones were counted is read, and its mean score is of all', async () => {
  const checkpoint = (await world.call('GET', '/runs/figures/checkpoint')).body
  const { skipped_scored, skipped_score: _score, ...sums } = checkpoint.tasks.leg_counting
  expect(skipped_scored).toBeGreaterThan(0)
  const { lone_voter_groups: _, ...counters } = checkpoint.counters
  const { learnability: _evidence, ...rest } = checkpoint
  const earlier = { ...rest, counters, tasks: { leg_counting: sums } }
  expect((await world.call('PUT', '/runs/earlier/checkpoint', earlier)).status).toBe(200)
  const { tasks, progress } = (await world.call('GET', '/runs/earlier')).body
  expect(tasks.leg_counting).toMatchObject({ skipped: 0, mean_score: sums.score / sums.scored })
  expect(progress.no_signal.lone_voter).toBe(0)
})

describe('the metrics of a batch', () => {
  let batch: {
    metrics: Record<string, number>
    lag: object
    totals: object
    groups: { policy_version: number | null }[]
  }
  beforeAll(async () => {
    batch = (await world.call('POST', '/runs/figures/batches', { step: 10, final: true })).body
  })

  /** Over what the batch's groups were posted with, also what `unscored_rollouts: omit` leaves out of the batch. */
  function recompute(): Record<string, number> {
    const all = posted.flat()
    const scored = all.filter(isScored)
    const scores = scored.map(({ verdict }) => verdict.score ?? 0)
    const rewards = scored.map(({ verdict }) => verdict.reward ?? 0)
    const lengths = all.flatMap(({ rollout }) => lengthOf(rollout) ?? []).toSorted((a, b) => a - b)
    const trained = scored.filter(({ rollout }) => !isShort(rollout) && !isCut(rollout))
    const lags = VERSIONS.flatMap((version) => (version === null ? [] : [10 - version]))
    return {
      'batch/groups': GROUPS.length,
      'batch/rollouts': scored.length,
      'batch/trained_rollouts': trained.length,
      'batch/trained_tokens': trained.reduce((sum, { rollout }) => sum + (lengthOf(rollout) ?? 0), 0),
      'reward/mean': mean(rewards),
      'reward/std': Math.sqrt(mean(rewards.map((reward) => (reward - mean(rewards)) ** 2))),
      'score/mean': mean(scores),
      'score/frac_correct': share(scores, (score) => score >= 0.5),
      ...Object.fromEntries([2, 4].map((k) => [`pass_at/${k}`, passAt(k)])),
      'signal/frac': 4 / 8,
      'length/mean': mean(lengths),
      'length/p95': lengths[Math.ceil(lengths.length * 0.95) - 1] ?? 0,
      'truncated/frac': share(all, ({ rollout }) => isCut(rollout)),
      'skipped/frac': share(all, ({ rollout }) => isShort(rollout)),
      'masked/frac': share(all, ({ rollout }) => isCut(rollout)),
      'unscored/frac': 1 - scored.length / all.length,
      'fault/no_answer': share(all, ({ rollout }) => rollout.completion === untagged.completion),
      'fault/many_answers': 0,
      'fault/unclosed_answer': 0,
      'fault/unclosed_think': 0,
      'fault/answer_too_long': 0,
      'fault/invalid_answer': 0,
      'task/leg_counting/reward': mean(rewards),
      'lag/min': Math.min(...lags),
      'lag/mean': mean(lags),
      'lag/max': Math.max(...lags),
    }
  }

  /** Over groups with at least k scores: the share of all choices of k of them that have a right one, by counting. */
  function passAt(k: number): number {
    const groups = posted.map((rollouts) => rollouts.filter(isScored).map(({ verdict }) => (verdict.score ?? 0) >= 0.5))
    return mean(
      groups
        .filter(({ length }) => length >= k)
        .map((right) => share(choices(right, k), (some) => some.includes(true))),
    )
  }

  it('are those that their definitions give, and no other', () => {
    const expected = recompute()
    expect(Object.keys(batch.metrics).toSorted()).toEqual(Object.keys(expected).toSorted())
    for (const [name, value] of Object.entries(expected))
      expect([name, batch.metrics[name]]).toEqual([name, expect.closeTo(value, 9)])
  })

  it('have a line in the guide each', () => {
    const guide = readFileSync(new URL('../../../docs/design/groups-and-batches.md', import.meta.url), 'utf8')
    const generic = (name: string) => name.replace(/^fault\/.*/, 'fault/CODE').replace(/^task\/.*/, 'task/NAME/reward')
    const rows = guide.split('\n').filter((line) => line.startsWith('| `'))
    for (const name of Object.keys(batch.metrics))
      expect([name, rows.some((row) => row.includes(`\`${generic(name)}\``))]).toEqual([name, true])
  })

  it('lag is counted from the oldest version of a group, in which a rollout’s own replaces the group’s', () => {
    expect(batch.groups.map(({ policy_version }) => policy_version)).toEqual(VERSIONS)
    expect(batch.lag).toEqual({ min: 1, mean: 3.4, max: 7 })
  })
})

function choices<T>(all: T[], k: number): T[][] {
  if (k === 0) return [[]]
  return all.flatMap((one, at) => choices(all.slice(at + 1), k - 1).map((rest) => [one, ...rest]))
}
