/** 1 for a grid of 0 and 1 that has the sums of rows and columns. Rule of `reasoning_gym/games/kakurasu.py`. */
import { z } from 'zod'
import { strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const kakurasu = defineScorer({
  metadata: z.looseObject({
    n_rows: z.int(),
    n_cols: z.int(),
    row_sums: z.array(z.int()),
    col_sums: z.array(z.int()),
  }),
  score(answer, entry) {
    const { n_rows, n_cols, row_sums, col_sums } = entry.metadata
    const lines = strip(answer).split('\n')
    const grid = lines.map((line) => (line.match(/[01]/g) ?? []).map(Number))
    if (grid.length !== n_rows || grid.some((row) => row.length !== n_cols)) return 0
    const columns = col_sums.map((_, j) => grid.map((row) => row[j] ?? 0))
    return hasSums(grid, row_sums) && hasSums(columns, col_sums) ? 1 : 0
  },
})

/** The k-th cell of a line weighs k. */
function hasSums(lines: readonly (readonly number[])[], sums: readonly number[]): boolean {
  return sums.every((sum, i) => lines[i]?.reduce((total, cell, k) => total + cell * (k + 1), 0) === sum)
}
