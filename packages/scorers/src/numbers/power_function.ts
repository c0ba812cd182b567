/** Equal to three significant figures, else 0.01. Rule of `reasoning_gym/arithmetic/power_function.py`. */
import { z } from 'zod'
import { Decimal, InvalidOperation } from '../python/decimal.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const SIGNIFICANT_DIGITS = 3

export const powerFunction = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    try {
      return Decimal.parse(answer)
        .round(SIGNIFICANT_DIGITS)
        .equals(Decimal.parse(requireOracleAnswer(entry)).round(SIGNIFICANT_DIGITS))
        ? 1
        : 0.01
    } catch (error) {
      if (error instanceof InvalidOperation) return 0.01
      throw error
    }
  },
})
