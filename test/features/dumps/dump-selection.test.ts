import type { Rollout } from '@reasoning-gym-server/contract/rollout'
import { resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Verdict } from '@reasoning-gym-server/contract/verdict'
import { expect, it } from 'vitest'
import { type DumpRules, selectDumpKinds } from '../../../src/features/dumps/dump-record.ts'
import { gradeGroup, measureRollout } from '../../../src/grading/group-advantages.ts'
import { formatFaultVerdict, unscoredVerdict } from '../../../src/grading/verdict.ts'

const scored = (score: number): Verdict => ({
  status: 'scored',
  reward: score,
  score,
  answer: 'x',
  fault: null,
  components: { correct: score, format: 1, length_penalty: 0, try_discount: 0 },
})

function kinds(rules: Partial<DumpRules>, verdicts: Verdict[], about: Partial<Rollout>[] = []) {
  const settings = resolveSettings({ dump_rollouts: true, dump_failed_rollouts: true, max_token_length: 100, ...rules })
  const rollouts = verdicts.map((_, k) => measureRollout({ completion: 'x', ...about[k] }))
  return selectDumpKinds(gradeGroup(rollouts, verdicts, settings, true), settings)
}

it('a reward strictly above the threshold brings a group into the file', () => {
  expect(kinds({}, [scored(0.7), scored(0)])).toEqual([])
  expect(kinds({}, [scored(0.7000001), scored(0)])).toEqual(['rollouts'])
  expect(kinds({ rollout_save_score_threshold: 1 }, [scored(1)])).toEqual([])
  expect(kinds({ rollout_save_score_threshold: 0 }, [scored(0.01)])).toEqual(['rollouts'])
})

it('the reward counts, not the score: what a penalty takes away is not above the threshold', () => {
  const long = [{ length_tokens: 100 }, { length_tokens: 100 }]
  expect(kinds({}, [scored(1), scored(1)], long)).toEqual([])
})

it('a group that a length penalty made all zero is not failed (fault 14 of the original)', () => {
  const long = [{ length_tokens: 100 }, { length_tokens: 200 }]
  expect(kinds({}, [scored(1), scored(0.5)], long)).toEqual([])
  expect(kinds({}, [scored(0), formatFaultVerdict('no_answer')], long)).toEqual(['failed'])
})

it('short and unscored rollouts decide nothing', () => {
  const short = { masks: [1, 1] }
  expect(kinds({}, [scored(1), scored(0)], [short, {}])).toEqual(['failed'])
  expect(kinds({}, [scored(0), scored(1)], [short, short])).toEqual([])
  expect(kinds({}, [unscoredVerdict('scorer_timeout', ''), scored(0)])).toEqual(['failed'])
  expect(kinds({}, [unscoredVerdict('scorer_timeout', ''), scored(1)])).toEqual(['rollouts'])
})

it('a rollout that was cut counts, though it does not vote', () => {
  expect(kinds({}, [scored(1), scored(0)], [{ finish_reason: 'length' }])).toEqual(['rollouts'])
})

it('"all" takes every scored group, and only those', () => {
  const rules = { dump_rollouts: 'all' as const, dump_failed_rollouts: false }
  expect(kinds(rules, [scored(0)])).toEqual(['rollouts'])
  expect(kinds({ ...rules, dump_failed_rollouts: true }, [scored(0)])).toEqual(['rollouts', 'failed'])
  expect(kinds(rules, [unscoredVerdict('generation_failed', '')])).toEqual([])
})

it('each setting turns its own file on', () => {
  expect(kinds({ dump_rollouts: false }, [scored(1)])).toEqual([])
  expect(kinds({ dump_failed_rollouts: false }, [scored(0)])).toEqual([])
})
