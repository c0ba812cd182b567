/** Formats the frontier of a model for reports. */
import type { FrontierResult } from '@reasoning-gym-server/contract/eval'
import { formatInterval, formatMeanScore } from './format.ts'

export const FRONTIER_HEADS = ['task', 'difficulty at half', '90%', 'slope', 'items']

/** Builds the cells of the table of tasks, from the task with the farthest frontier to the one with the nearest. */
export function listFrontierRows({ tasks }: FrontierResult): string[][] {
  return Object.entries(tasks)
    .toSorted(([a, x], [b, y]) => y.difficulty_at_half - x.difficulty_at_half || (a < b ? -1 : 1))
    .map(([task, { difficulty_at_half, interval_90, slope, beyond, items }]) => [
      task,
      `${formatMeanScore(difficulty_at_half)}${beyond === null ? '' : beyond === 'above_ladder' ? ' or harder' : ' or easier'}`,
      formatInterval(interval_90),
      slope.toFixed(1),
      items.toString(),
    ])
}

export function formatFrontierMean({ difficulty_at_half, interval_90, tasks }: FrontierResult): string {
  return `${formatMeanScore(difficulty_at_half)} ${formatInterval(interval_90)} over ${Object.keys(tasks).length} tasks`
}

/** Returns one sentence, or an empty string. */
export function formatLeftOut({ left_out }: FrontierResult): string {
  const reasons = Object.entries(left_out).map(([task, reason]) => `${task} (${reason})`)
  return reasons.length === 0 ? '' : `Left out: ${reasons.join(', ')}.`
}
