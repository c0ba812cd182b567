/** Formats numbers for readers of a report. */
import type { EvalStatistics } from '@reasoning-gym-server/contract/eval'

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

export function formatInterval(interval: number[] | null): string {
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

export function formatWholeNumber(value: number | null): string {
  return value === null ? '–' : Math.round(value).toString()
}

export { formatFailures } from '@reasoning-gym-server/contract/eval'

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
