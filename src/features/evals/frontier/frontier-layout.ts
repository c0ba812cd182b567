/**
 * Maps a sample of a frontier eval to its task and item. Samples are numbered round by round and, within a round, task
 * by task. All tasks therefore progress together, and a round of a task begins when the previous one is scored.
 */
import type { FrontierPlan } from '../generation-job-spec.ts'

/** Items of a task that are chosen and asked together. */
export const ROUND_ITEMS = 4

export interface FrontierSample {
  task: string
  /** Position among the task's items. */
  index: number
  /** Positions of the round among the task's items, from `start` (inclusive) to `end` (exclusive). */
  round: { start: number; end: number }
}

export function locateSample({ tasks, items_per_task }: FrontierPlan, sample: number): FrontierSample {
  const start = Math.floor(sample / (tasks.length * ROUND_ITEMS)) * ROUND_ITEMS
  const end = Math.min(start + ROUND_ITEMS, items_per_task)
  const place = sample - start * tasks.length
  const task = tasks[Math.floor(place / (end - start))]
  if (task === undefined) throw new RangeError(`the eval has no sample ${sample}`)
  return { task, index: start + (place % (end - start)), round: { start, end } }
}

/** Lists the samples of a task's items from `from` (inclusive) to `to` (exclusive). */
export function listTaskSamples(plan: FrontierPlan, task: string, from: number, to: number): number[] {
  const place = plan.tasks.indexOf(task)
  return Array.from({ length: Math.max(0, to - from) }, (_, k) => {
    const index = from + k
    const start = Math.floor(index / ROUND_ITEMS) * ROUND_ITEMS
    const size = Math.min(ROUND_ITEMS, plan.items_per_task - start)
    return start * plan.tasks.length + place * size + (index - start)
  })
}

/** Returns the highest number of samples that can be in flight. */
export function countConcurrentSamples({ tasks, items_per_task }: FrontierPlan): number {
  return tasks.length * Math.min(ROUND_ITEMS, items_per_task)
}
