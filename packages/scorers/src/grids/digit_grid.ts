/** 1 if equal but for blanks at line ends, 0.9 of the share of right digits otherwise, less if longer than the oracle. Rule of `reasoning_gym/games/sudoku.py`, `reasoning_gym/games/mini_sudoku.py` and `reasoning_gym/games/futoshiki.py`. */
import { z } from 'zod'
import { codePointLength, rstrip } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const DIGIT_PATTERN = /[1-9]/g

export const digitGrid = defineScorer({
  metadata: z.looseObject({ solution: z.array(z.array(z.int())) }),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    const reward =
      trimLineEnds(answer) === trimLineEnds(oracle) ? 1 : getCorrectCellShare(answer, entry.metadata.solution) * 0.9
    return reward * Math.min(1, codePointLength(oracle) / Math.max(1, codePointLength(answer)))
  },
})

function trimLineEnds(text: string): string {
  return text
    .split('\n')
    .map((line) => rstrip(line))
    .join('\n')
}

/** Lines that do not have a row's number of digits are passed over. */
function getCorrectCellShare(answer: string, solution: readonly (readonly number[])[]): number {
  const size = solution[0]?.length ?? 0
  const rows = answer
    .split('\n')
    .map((line) => line.match(DIGIT_PATTERN) ?? [])
    .filter((digits) => digits.length === size)
  const right = solution.flatMap((row, i) => row.filter((cell, j) => String(cell) === rows[i]?.[j]))
  return right.length / (size * size)
}
