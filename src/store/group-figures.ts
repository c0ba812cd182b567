/** What a completed group adds to the figures of its run and its task. */
import type { GroupResult } from '../scoring/group.ts'

/** Whole numbers of the run, by name. */
export function countersOf({ status, verdicts, signal, destination, mean_score }: GroupResult): Record<string, number> {
  const counters: Record<string, number> = { [`${status}_groups`]: 1 }
  const add = (name: string) => {
    counters[name] = (counters[name] ?? 0) + 1
  }
  if (destination === 'no_signal' && !signal) add((mean_score ?? 0) >= 0.5 ? 'no_signal_easy' : 'no_signal_hard')
  for (const verdict of verdicts) {
    if (verdict.status === 'unscored') add('unscored')
    else if (verdict.fault) add(`fault:${verdict.fault}`)
  }
  return counters
}

/** Sums of the task, by field. A group that failed tells nothing of its task, and may be scored yet. */
export function sumsOf(task: string, { status, verdicts, signal }: GroupResult): Record<string, number> {
  if (status === 'failed') return {}
  const scored = verdicts.filter((verdict) => verdict.status === 'scored')
  const sum = (field: 'score' | 'reward') => scored.reduce((total, verdict) => total + verdict[field], 0)
  return {
    [`${task}:groups`]: 1,
    [`${task}:rollouts`]: scored.length,
    [`${task}:score`]: sum('score'),
    [`${task}:reward`]: sum('reward'),
    [`${task}:signal`]: signal ? 1 : 0,
  }
}
