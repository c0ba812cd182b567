/** What a report says about an eval or a duel: its figures, formatted for readers. */
import type { DuelResult, DuelView } from '@reasoning-gym-server/contract/duel'
import type { EvalStatistics, FrontierResult } from '@reasoning-gym-server/contract/eval'

export function formatPercent(value: number | null): string {
  return value === null ? '–' : `${(100 * value).toFixed(1)}%`
}

export function formatMeanScore(value: number | null): string {
  return value === null ? '–' : value.toFixed(3)
}

/** Formats the mean with its 95% interval. */
export function formatMeanWithInterval({ mean_score, confidence_95 }: EvalStatistics): string {
  return `${formatMeanScore(mean_score)}${confidence_95 === null ? '' : ` ${formatInterval(confidence_95)}`}`
}

function formatInterval(interval: number[] | null): string {
  return interval === null ? '–' : `[${interval.map((bound) => bound.toFixed(3)).join(', ')}]`
}

/** Formats the floor-corrected mean with its 95% interval. */
export function formatLift({ lift, lift_confidence_95 }: EvalStatistics): string {
  return `${formatMeanScore(lift)}${lift_confidence_95 === null ? '' : ` ${formatInterval(lift_confidence_95)}`}`
}

/** Formats one entry for each k: `1: 40.0%, 4: 71.2%`. */
export function formatRateByK(rates: Record<string, number>): string {
  return Object.entries(rates)
    .map(([k, rate]) => `${k}: ${formatPercent(rate)}`)
    .join(', ')
}

function formatWholeNumber(value: number | null): string {
  return value === null ? '–' : Math.round(value).toString()
}

/** Columns of a table of figures, with the formatter of each cell. */
export const REPORT_COLUMNS: [head: string, cell: (figures: EvalStatistics) => string][] = [
  ['mean score, 95%', formatMeanWithInterval],
  ['lift, 95%', formatLift],
  ['accuracy', ({ accuracy }) => formatPercent(accuracy)],
  ['format faults', ({ format_faults }) => formatPercent(format_faults)],
  ['truncated', ({ truncated }) => truncated.toString()],
  ['unscored', ({ unscored }) => unscored.toString()],
  ['missing', ({ missing }) => missing.toString()],
  ['tokens', ({ mean_tokens }) => formatWholeNumber(mean_tokens)],
  ['samples', ({ n }) => n.toString()],
]

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

/** Formats the verdict as one sentence. */
export function formatDuelVerdict({ a, b, alpha, smallest_difference, status }: DuelView, result: DuelResult): string {
  const confidence = `${Number((100 * (1 - alpha)).toFixed(2))}%`
  switch (result.ended_by) {
    case 'winner': {
      const winner = result.verdict === 'a_better' ? `a (${a.name})` : `b (${b.name})`
      return `${winner} is better: shown with ${confidence} confidence after ${result.items} items.`
    }
    case 'equivalence':
      return `No difference found: it is smaller than ${smallest_difference} with ${confidence} confidence, after ${result.items} items.`
    case 'max_items':
      return `No difference found in ${result.items} items: neither model is shown to be better.`
    case 'interruption':
      return `No difference found in the ${result.items} items before the duel was ${status}.`
    case null:
      return `Undecided after ${result.items} items.`
  }
}

/** Lists the name and value of each figure. */
export function listDuelFigures(result: DuelResult): [name: string, value: string][] {
  const side = ({ mean_score, lift }: DuelResult['a']) =>
    `${formatMeanScore(mean_score)} mean score, lift ${formatMeanScore(lift)}`
  return [
    ['a', side(result.a)],
    ['b', side(result.b)],
    ['difference, a − b', `${formatMeanScore(result.difference)} ${formatInterval(result.confidence_sequence)}`],
    ['e-value', formatEvidence(result.e_value)],
    ['p, at any time', result.p < 0.0001 ? result.p.toExponential(1) : result.p.toFixed(4)],
    ['items', `${result.items}${result.skipped > 0 ? `, and ${result.skipped} without a score of both` : ''}`],
  ]
}

function formatEvidence(value: number): string {
  return value >= 10_000 || value < 0.001 ? value.toExponential(1) : value.toPrecision(3)
}

/** Builds the cells of the table of tasks: name, items, a, b, difference. */
export function listDuelTaskRows(result: DuelResult): string[][] {
  return Object.entries(result.tasks).map(([task, { items, a, b, difference }]) => [
    task,
    items.toString(),
    formatMeanScore(a.mean_score),
    formatMeanScore(b.mean_score),
    formatMeanScore(difference),
  ])
}

export const DUEL_TASK_HEADS = ['task', 'items', 'a', 'b', 'a − b']
