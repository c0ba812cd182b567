/** 1 for the solution's numbers, whatever else stands between them. Rule of `reasoning_gym/games/survo.py`. */
import { z } from 'zod'
import { parseInteger } from '../python/numbers.ts'
import { caught } from '../python/raised.ts'
import { split, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const survo = defineScorer({
  metadata: z.looseObject({ board_size: z.int(), solution: z.array(z.array(z.int())) }),
  score(answer, entry) {
    const { board_size: size, solution } = entry.metadata
    const rows = strip(answer).split('\n').map(integersIn)
    const grid = rows.filter((row) => row.length > 0)
    if (grid.length !== size || grid.some((row) => row.length !== size)) return 0
    return grid.every((row, i) => row.every((cell, j) => cell === BigInt(solution[i]?.[j] ?? 0))) ? 1 : 0
  },
})

function integersIn(line: string): bigint[] {
  const found = split(line).map((word) => caught(() => parseInteger(word), undefined))
  return found.filter((value) => value !== undefined)
}
