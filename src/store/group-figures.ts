/** What a completed group adds to the figures of its run and its task. */
import { CORRECT, type GroupResult } from '../scoring/group.ts'
import type { GroupFacts } from '../words/batch.ts'
import { lengthField } from './length-buckets.ts'

/** Whole numbers of the run, by name. */
export function countersOf(result: GroupResult): Record<string, number> {
  const { status, verdicts, destination } = result
  const counters: Record<string, number> = { [`${status}_groups`]: 1 }
  const add = (name: string) => {
    counters[name] = (counters[name] ?? 0) + 1
  }
  const dull = dullnessOf(result)
  if (destination === 'no_signal' && dull) add(dull === 'masked' ? 'masked_groups' : `no_signal_${dull}`)
  if (destination === 'skipped') add('skipped_groups')
  for (const verdict of verdicts) {
    if (verdict.status === 'unscored') add('unscored')
    else if (verdict.fault) add(`fault:${verdict.fault}`)
  }
  return counters
}

/** Why a group has no signal; `masked`: nobody votes, so that it is neither easy nor hard. */
function dullnessOf({ signal, voters = 0, mean_score }: GroupResult): 'easy' | 'hard' | 'masked' | undefined {
  if (signal) return undefined
  if (voters === 0) return 'masked'
  return (mean_score ?? 0) >= CORRECT ? 'easy' : 'hard'
}

/** Sums of the task, by field. A group that failed tells nothing of its task, and may be scored yet. */
export function sumsOf(
  task: string,
  { status, verdicts, signal }: GroupResult,
  facts: GroupFacts,
): Record<string, number> {
  if (status === 'failed') return {}
  const scored = verdicts.filter((verdict) => verdict.status === 'scored')
  const sum = (field: 'score' | 'reward') => scored.reduce((total, verdict) => total + verdict[field], 0)
  return prefixed(task, {
    groups: 1,
    rollouts: scored.length,
    score: sum('score'),
    reward: sum('reward'),
    signal: signal ? 1 : 0,
    ...tally(facts),
  })
}

/** Sums of the step in which the group was completed, by field. */
export function stepSumsOf(facts: GroupFacts, result: GroupResult): Record<string, number> {
  const { task, each, signal } = facts
  const scored = each.filter(([reward]) => reward !== null)
  const sum = (of: 0 | 1) => scored.reduce((total, rollout) => total + (rollout[of] ?? 0), 0)
  const dull = dullnessOf(result)
  return withoutZeros({
    groups: 1,
    rollouts: each.length,
    scored: scored.length,
    reward: sum(0),
    squares: scored.reduce((total, [reward]) => total + (reward ?? 0) ** 2, 0),
    score: sum(1),
    correct: scored.filter(([, score]) => (score ?? 0) >= CORRECT).length,
    signal: signal ? 1 : 0,
    easy: dull === 'easy' ? 1 : 0,
    hard: dull === 'hard' ? 1 : 0,
    unscored: each.length - scored.length,
    ...tally(facts),
    [`task:${task}:scored`]: scored.length,
    [`task:${task}:reward`]: sum(0),
  })
}

/** Lengths, and rollouts by their marks; what is 0 is left out. */
function tally({ each }: GroupFacts): Record<string, number> {
  const sums: Record<string, number> = {}
  const add = (field: string, amount = 1) => {
    sums[field] = (sums[field] ?? 0) + amount
  }
  for (const [, , length, , marks] of each) {
    for (const mark of marks) add(MARKS[mark] ?? `fault:${mark}`)
    if (length === null) continue
    add('lengths')
    add('length', length)
    add(lengthField(length))
  }
  return sums
}

const MARKS: Record<string, string> = { s: 'skipped', m: 'masked', t: 'truncated' }

function prefixed(task: string, sums: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(withoutZeros(sums)).map(([field, amount]) => [`${task}:${field}`, amount]))
}

/** A field that is not there counts as 0: what adds nothing need not be told to Redis, one command each. */
function withoutZeros(sums: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0))
}
