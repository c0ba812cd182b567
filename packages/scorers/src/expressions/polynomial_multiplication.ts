/** The product as sympy writes it: multiplied out, in any order. Rule of `reasoning_gym/algebra/polynomial_multiplication.py`. */
import { z } from 'zod'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'
import { getExprKey } from './expr.ts'
import { parseExpression } from './parser.ts'
import { UnsupportedExpressionError } from './tokens.ts'

export const polynomialMultiplication = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const wanted = getCanonicalForm(requireOracleAnswer(entry))
    return wanted !== undefined && getCanonicalForm(answer) === wanted ? 1 : 0
  },
})

function getCanonicalForm(text: string): string | undefined {
  try {
    return getExprKey(parseExpression(text))
  } catch (error) {
    if (error instanceof UnsupportedExpressionError) return undefined
    throw error
  }
}
