/** Equal as decimals. Rule of `reasoning_gym/arithmetic/decimal_chain_sum.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { defineScorer } from '../scorer.ts'
import { sameDecimal } from './decimal_value.ts'

export const decimalChainSum = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) => (sameDecimal(answer, oracleOf(entry)) ? 1 : 0),
})
