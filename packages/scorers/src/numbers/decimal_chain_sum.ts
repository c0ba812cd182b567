/** Equal as decimals. Rule of `reasoning_gym/arithmetic/decimal_chain_sum.py`. */
import { z } from 'zod'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'
import { equalsAsDecimal } from './decimal_value.ts'

export const decimalChainSum = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) => (equalsAsDecimal(answer, requireOracleAnswer(entry)) ? 1 : 0),
})
