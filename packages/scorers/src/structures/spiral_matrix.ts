/** 1 if equal but for outer white space, 0.1 for the same list as a Python literal. Rule of `reasoning_gym/algorithmic/spiral_matrix.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { parseLiteral } from '../python/literal.ts'
import { strip } from '../python/text.ts'
import { iterate, str } from '../python/values.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

export const spiralMatrix = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [given, oracle] = [strip(answer), strip(requireOracleAnswer(entry))]
    if (answer === '') return 0
    if (given === oracle) return 1
    return catchPythonError(() => (iterate(parseLiteral(given)).map(str).join(' ') === oracle ? 0.1 : 0), 0)
  },
})
