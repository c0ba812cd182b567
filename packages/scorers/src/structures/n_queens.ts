/** 1 for one of the solutions, 0.5 for one as a Python literal. Rule of `reasoning_gym/games/n_queens.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { parseLiteral } from '../python/literal.ts'
import { defineScorer } from '../scorer.ts'
import { formatMatrix, requireText } from './matrix-text.ts'

export const nQueens = defineScorer({
  metadata: z.looseObject({ valid_answers: z.array(z.string()) }),
  score(answer, entry) {
    const solutions = entry.metadata.valid_answers
    if (solutions.includes(answer)) return 1
    return catchPythonError(() => (solutions.includes(formatMatrix(parseLiteral(answer), requireText)) ? 0.5 : 0), 0)
  },
})
