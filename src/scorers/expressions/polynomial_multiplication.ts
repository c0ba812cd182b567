/** The product as sympy writes it: multiplied out, in any order. Rule of `reasoning_gym/algebra/polynomial_multiplication.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { defineScorer } from '../scorer.ts'
import { keyOf } from './expr.ts'
import { readExpression } from './reader.ts'
import { Refused } from './refused.ts'

export const polynomialMultiplication = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const wanted = formOf(oracleOf(entry))
    return wanted !== undefined && formOf(answer) === wanted ? 1 : 0
  },
})

function formOf(text: string): string | undefined {
  try {
    return keyOf(readExpression(text))
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}
