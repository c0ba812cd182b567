/** 1 for the solution's numbers, whatever else stands between them. Rule of `reasoning_gym/games/survo.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { MAX_DIGITS, parseInteger } from '../python/numbers.ts'
import { PY_D, splitWhitespace, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

/** What Python's `int()` takes of a word. To try each of 30,000 words and catch the error would take a second. */
const INTEGER_PATTERN = new RegExp(`^[+\\-]?${PY_D}+(?:_${PY_D}+)*$`, 'v')

export const survo = defineScorer({
  metadata: z.looseObject({ board_size: z.int(), solution: z.array(z.array(z.int())) }),
  score(answer, entry) {
    const { board_size: size, solution } = entry.metadata
    const rows = strip(answer)
      .split('\n')
      .map((line) => splitWhitespace(line).filter(isInteger))
    const grid = rows.filter((row) => row.length > 0)
    if (grid.length !== size || grid.some((row) => row.length !== size)) return 0
    return grid.every((row, i) => row.every((word, j) => parseInteger(word) === BigInt(solution[i]?.[j] ?? 0))) ? 1 : 0
  },
})

function isInteger(word: string): boolean {
  return (
    INTEGER_PATTERN.test(word) &&
    (word.length <= MAX_DIGITS || catchPythonError(() => parseInteger(word), undefined) !== undefined)
  )
}
