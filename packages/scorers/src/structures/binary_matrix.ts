/** 1 if equal, 0.1 for the same matrix as a Python literal. Rule of `reasoning_gym/algorithmic/binary_matrix.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { parseLiteral } from '../python/literal.ts'
import { str } from '../python/values.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'
import { formatMatrix } from './matrix-text.ts'

export const binaryMatrix = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    if (answer === oracle) return 1
    return catchPythonError(() => (formatMatrix(parseLiteral(answer), str) === oracle ? 0.1 : 0), 0)
  },
})
