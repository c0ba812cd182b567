/** Explains why the last groups of a run carry no signal. */
import { explainCollapsedEnd, listCollapsedEnds } from './collapse.ts'
import { mergeWindows } from './diagnosis.ts'
import type { GroupOutcome, OutcomeKind } from './group-outcome.ts'

const REASONS: Record<Exclude<OutcomeKind, 'signal'>, string> = {
  easy: 'every rollout is correct: the tasks are too easy',
  hard: 'every rollout is wrong: the tasks are too hard, or the answers miss the format',
  masked: 'every rollout is truncated and masked',
  lone_voter: 'one rollout is left to compare: the others are truncated and masked, too short, or unscored',
  skipped: 'every rollout has fewer than min_trained_tokens and is skipped',
}

/** `count` is the number of consecutive groups without signal. Only those in the windows are known. */
export function explainMissingSignal(windows: Readonly<Record<string, GroupOutcome[]>>, count: number): string {
  const recent = mergeWindows(windows).slice(-count)
  // after a checkpoint is restored, the windows are empty
  if (recent.length === 0) return 'all rewards in a group are equal'
  const known = new Set(recent)
  const ends = listCollapsedEnds(windows, (outcome) => known.has(outcome))
  const [largest] = ends.toSorted((a, b) => b.groups.length - a.groups.length)
  const collapsed = ends.reduce((sum, { groups }) => sum + groups.length, 0)
  if (largest && 2 * collapsed > recent.length) return explainCollapsedEnd(largest)
  const counts = Map.groupBy(recent, ({ kind }) => kind)
  const [top] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)
  if (!top || top[0] === 'signal') return 'all rewards in a group are equal'
  const [kind, groups] = top
  const isEach = groups.length === count
  return `in ${isEach ? 'all of them' : `${groups.length} of the last ${recent.length}`}, ${REASONS[kind]}`
}
