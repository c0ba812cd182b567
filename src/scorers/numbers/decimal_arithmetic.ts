/** Within one unit of the last decimal place asked for. Rule of `reasoning_gym/arithmetic/decimal_arithmetic.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { Decimal, InvalidOperation } from '../python/decimal.ts'
import { defineScorer, type FullConfig } from '../scorer.ts'

const Places = z.looseObject({ max_num_decimal_places: z.int() })

export const decimalArithmetic = defineScorer({
  metadata: z.unknown(),
  score(answer, entry, config) {
    try {
      const difference = Decimal.parse(answer)
        .subtract(Decimal.parse(oracleOf(entry)))
        .abs()
      return difference.compare(tolerance(config)) <= 0 ? 1 : 0
    } catch (error) {
      if (error instanceof InvalidOperation) return 0
      throw error
    }
  },
})

function tolerance(config: FullConfig): Decimal {
  return Decimal.powerOfTen(-Places.parse(config).max_num_decimal_places)
}
