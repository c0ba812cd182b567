/** Numbers as people read them. */
import type { EvalStatistics } from '../../../contract/eval.ts'

export function formatPercent(value: number | null): string {
  return value === null ? '–' : `${(100 * value).toFixed(1)} %`
}

export function formatMeanScore(value: number | null): string {
  return value === null ? '–' : value.toFixed(3)
}

export function formatMeanWithError({ mean_score, stderr }: EvalStatistics): string {
  return stderr === null
    ? formatMeanScore(mean_score)
    : `${formatMeanScore(mean_score)} ± ${(1.96 * stderr).toFixed(3)}`
}

export function formatWholeNumber(value: number | null): string {
  return value === null ? '–' : Math.round(value).toString()
}

/** Columns of a table of figures, with what each row says. */
export const REPORT_COLUMNS: [head: string, cell: (figures: EvalStatistics) => string][] = [
  ['mean score, 95 %', formatMeanWithError],
  ['accuracy', ({ accuracy }) => formatPercent(accuracy)],
  ['format faults', ({ format_faults }) => formatPercent(format_faults)],
  ['truncated', ({ truncated }) => truncated.toString()],
  ['unscored', ({ unscored }) => unscored.toString()],
  ['missing', ({ missing }) => missing.toString()],
  ['tokens', ({ mean_tokens }) => formatWholeNumber(mean_tokens)],
  ['samples', ({ n }) => n.toString()],
]
