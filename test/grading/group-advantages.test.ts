import type { Rollout } from '@reasoning-gym-server/contract/rollout'
import { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Verdict } from '@reasoning-gym-server/contract/verdict'
import { describe, expect, it } from 'vitest'
import { type GroupScoringRules, gradeGroup, measureRollout } from '../../src/grading/group-advantages.ts'
import { formatFaultVerdict, unscoredVerdict } from '../../src/grading/verdict.ts'

const scored = (score: number): Verdict => ({
  status: 'scored',
  reward: score,
  score,
  answer: 'x',
  fault: null,
  components: { correct: score, format: 1, length_penalty: 0, try_discount: 0 },
})
const rollout = (more: Partial<Rollout> = {}): Rollout => ({ completion: 'x', ...more })
const rules = (more: Partial<GroupScoringRules> = {}): GroupScoringRules => ({ ...RunSettings.parse({}), ...more })
const judge = (
  rollouts: Partial<Rollout>[],
  verdicts: Verdict[],
  more: Partial<GroupScoringRules> = {},
  buffer = true,
) =>
  gradeGroup(
    rollouts.map((more) => measureRollout(rollout(more))),
    verdicts,
    rules(more),
    buffer,
  )
const rewards = (group: ReturnType<typeof judge>) => group.verdicts.map(({ reward }) => reward)
const advantages = (group: ReturnType<typeof judge>) => group.verdicts.map(({ advantage }) => advantage)
const masks = (trained: number) => [...Array<number>(3).fill(-100), ...Array<number>(trained).fill(7)]

describe('who counts', () => {
  it('a short rollout is skipped by name and its group lives on, each verdict with its own rollout', () => {
    const group = judge(
      [{ masks: masks(9) }, { masks: masks(10) }, { masks: masks(30) }],
      [scored(1), scored(0), scored(0.5)],
    )
    expect(group.verdicts.map(({ skipped }) => skipped)).toEqual(['too_short', undefined, undefined])
    expect(rewards(group)).toEqual([1, 0, 0.5])
    expect(group).toMatchObject({
      status: 'scored',
      voters: 2,
      mean_score: 0.25,
      percent_correct: 0.5,
      destination: 'buffered',
    })
    expect(advantages(group)).toEqual([0, -0.25, 0.25])
  })

  it('a rollout cut by its limit counts but does not vote', () => {
    const group = judge([{ finish_reason: 'length' }, {}, {}], [scored(1), scored(0), scored(1)])
    expect(group).toMatchObject({ mean_score: 2 / 3, mean_reward: 0.5, voters: 2 })
    expect(advantages(group)).toEqual([0, -0.5, 0.5])
    expect(group.verdicts[0]).toMatchObject({ masked: true })
  })

  it('an unscored rollout has no reward, no vote and no advantage', () => {
    const group = judge([{}, {}, {}], [unscoredVerdict('scorer_timeout', ''), scored(0), scored(1)])
    expect(rewards(group)).toEqual([null, 0, 1])
    expect(advantages(group)).toEqual([null, -0.5, 0.5])
    expect(group).toMatchObject({ status: 'scored', mean_score: 0.5, voters: 2 })
  })

  it('a group of which nothing could be scored has failed, which is no reward of 0', () => {
    const group = judge(
      [{}, {}],
      [unscoredVerdict('scorer_timeout', 'late'), unscoredVerdict('scorer_crashed', 'gone')],
    )
    expect(group).toMatchObject({
      status: 'failed',
      code: 'scorer_timeout',
      detail: 'late',
      mean_score: null,
      destination: null,
    })
  })

  it('a group without a counted rollout is skipped', () => {
    expect(judge([{ masks: masks(2) }], [scored(1)])).toMatchObject({
      status: 'scored',
      destination: 'skipped',
      mean_score: null,
      signal: false,
    })
  })
})

describe('signal and advantages', () => {
  it('equal rewards throughout have no signal; a rollout that was posted alone has', () => {
    expect(judge([{}, {}], [scored(1), scored(1)])).toMatchObject({ signal: false, destination: 'no_signal' })
    expect(judge([{}, {}], [scored(1), scored(1)], { drop_equal_scores: false })).toMatchObject({
      destination: 'buffered',
    })
    const alone = judge([{}], [scored(0.75)])
    expect(alone).toMatchObject({ signal: true, destination: 'buffered' })
    expect(advantages(alone)).toEqual([0.75])
  })

  it.each(['mean', 'mean_std', 'leave_one_out', 'none'] as const)(
    'a voter that is left alone in a larger group has no signal and advantage 0: %s',
    (advantage) => {
      const cut = { finish_reason: 'length' }
      const left = judge(
        [{}, cut, { masks: masks(2) }, {}],
        [scored(1), scored(1), scored(0), unscoredVerdict('scorer_timeout', '')],
        { advantage },
      )
      expect(left).toMatchObject({
        status: 'scored',
        voters: 1,
        signal: false,
        destination: 'no_signal',
        mean_reward: 1,
      })
      expect(advantages(left)).toEqual([0, 0, 0, null])
      expect(judge([{}, cut], [scored(1), scored(0)], { advantage, drop_equal_scores: false })).toMatchObject({
        signal: false,
        destination: 'buffered',
      })
      expect(advantages(judge([{}], [scored(1)], { advantage }))).toEqual([1])
    },
  )

  it('follow the kind that the run names', () => {
    const four = [scored(1), scored(0), scored(0), scored(1)]
    const kinds = (advantage: GroupScoringRules['advantage']) =>
      advantages(judge([{}, {}, {}, {}], four, { advantage }))
    expect(kinds('mean')).toEqual([0.5, -0.5, -0.5, 0.5])
    const sample = Math.sqrt(1 / 3) + 1e-4
    expect(kinds('mean_std')).toEqual([0.5 / sample, -0.5 / sample, -0.5 / sample, 0.5 / sample])
    expect(kinds('leave_one_out')).toEqual([2 / 3, -2 / 3, -2 / 3, 2 / 3])
    expect(kinds('none')).toEqual([1, 0, 0, 1])
  })

  it('a trainer that keeps its own buffer is told so', () => {
    expect(judge([{}, {}], [scored(0), scored(1)], {}, false)).toMatchObject({ destination: 'not_buffered' })
  })
})

describe('the length penalty of the original', () => {
  const long = (lengths: number[], scores: number[]) =>
    judge(
      lengths.map((length_tokens) => ({ length_tokens })),
      scores.map(scored),
      { max_token_length: 1000 },
    )

  it('lowers linearly from three quarters of the limit to nothing at it', () => {
    const group = long([750, 875, 1000, 5000], [1, 1, 0.8, 1])
    expect(rewards(group)).toEqual([1, 0.5, 0, 0])
    expect(group).toMatchObject({ length_penalty: true, lengths: 'all', mean_score: 0.95 })
    expect(group.verdicts[1]).toMatchObject({ score: 1, components: { length_penalty: -0.5 } })
  })

  it('touches nothing unless every counted answer is right, all have a length and none is unscored', () => {
    expect(rewards(long([2000, 2000], [1, 0.49]))).toEqual([1, 0.49])
    expect(rewards(judge([{ length_tokens: 2000 }, {}], [scored(1), scored(1)], { max_token_length: 1000 }))).toEqual([
      1, 1,
    ])
    const broken = judge(
      [{ length_tokens: 2000 }, { length_tokens: 9 }],
      [scored(1), unscoredVerdict('scorer_timeout', '')],
      {
        max_token_length: 1000,
      },
    )
    expect(rewards(broken)).toEqual([1, null])
    expect(broken.length_penalty).toBe(false)
  })

  it('never counts characters: a group without lengths is as it was', () => {
    expect(judge([{ completion: 'x'.repeat(1e5) }], [scored(1)], { max_token_length: 10 })).toMatchObject({
      lengths: 'none',
      length_penalty: false,
    })
  })
})

it('soft over-long punishment lowers all scored rollouts, below 0 too', () => {
  const kind = { kind: 'dapo', buffer: 400, factor: 1 } as const
  const group = judge(
    [{ length_tokens: 600 }, { length_tokens: 800 }, { length_tokens: 3000 }],
    [scored(1), scored(0), scored(0)],
    {
      max_token_length: 1000,
      length_penalty: kind,
    },
  )
  expect(rewards(group)).toEqual([1, -0.5, -1])
})

it('a fault of the model is a score of 0 with its name', () => {
  expect(judge([{}, {}], [formatFaultVerdict('no_answer'), scored(1)]).verdicts[0]).toMatchObject({
    status: 'scored',
    reward: 0,
    fault: 'no_answer',
    components: { correct: 0, format: 0 },
  })
})

it('a reward is the sum of its components, and grading leaves the verdict before it as it was', () => {
  const turns = [0, 0.3].map((score) => ({ score, answer: 'x', fault: null }))
  const before = [{ ...scored(0.3), turns } as Verdict, scored(1), formatFaultVerdict('no_answer')]
  const given = structuredClone(before)
  const length_penalty = { kind: 'dapo', buffer: 400, factor: 1 } as const
  const more = { max_token_length: 1000, length_penalty, try_discount: 0.7 }
  const { verdicts } = judge([{ length_tokens: 700 }, { length_tokens: 900 }, { length_tokens: 10 }], before, more)
  for (const verdict of verdicts) {
    if (verdict.status !== 'scored') throw new Error('unscored')
    const { correct, length_penalty: length, try_discount } = verdict.components
    expect(correct + length + try_discount).toBeCloseTo(verdict.reward, 12)
  }
  expect(verdicts).toMatchObject([
    { components: { correct: 0.3, format: 1, length_penalty: -0.25, try_discount: expect.closeTo(-0.015) } },
    { components: { correct: 1, format: 1, length_penalty: -0.75, try_discount: 0 } },
    { components: { correct: 0, format: 0, length_penalty: 0, try_discount: 0 } },
  ])
  expect(before).toEqual(given)
})
