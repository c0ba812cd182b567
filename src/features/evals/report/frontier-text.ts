/** The frontier of a model, as reports show it. */
import type { FrontierResult } from '../../../contract/eval.ts'
import { formatInterval, formatMeanScore } from './format.ts'

export const FRONTIER_HEADS = ['task', 'difficulty at half', '90 %', 'slope', 'items']

/** Cells of the table of tasks, from the task that the model is best at to the one where its reach is shortest. */
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

/** One sentence, or nothing. */
export function formatLeftOut({ left_out }: FrontierResult): string {
  const reasons = Object.entries(left_out).map(([task, reason]) => `${task} (${reason})`)
  return reasons.length === 0 ? '' : `Left out: ${reasons.join(', ')}.`
}
