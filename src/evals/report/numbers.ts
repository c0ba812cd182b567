/** Numbers as people read them. */
import type { Figures } from '../../words/eval.ts'

export function percent(value: number | null): string {
  return value === null ? '–' : `${(100 * value).toFixed(1)} %`
}

export function score(value: number | null): string {
  return value === null ? '–' : value.toFixed(3)
}

export function withError({ mean_score, stderr }: Figures): string {
  return stderr === null ? score(mean_score) : `${score(mean_score)} ± ${(1.96 * stderr).toFixed(3)}`
}

export function whole(value: number | null): string {
  return value === null ? '–' : Math.round(value).toString()
}

/** Columns of a table of figures, with what each row says. */
export const COLUMNS: [head: string, cell: (figures: Figures) => string][] = [
  ['mean score, 95 %', withError],
  ['accuracy', ({ accuracy }) => percent(accuracy)],
  ['format faults', ({ format_faults }) => percent(format_faults)],
  ['truncated', ({ truncated }) => truncated.toString()],
  ['unscored', ({ unscored }) => unscored.toString()],
  ['missing', ({ missing }) => missing.toString()],
  ['tokens', ({ mean_tokens }) => whole(mean_tokens)],
  ['samples', ({ n }) => n.toString()],
]
