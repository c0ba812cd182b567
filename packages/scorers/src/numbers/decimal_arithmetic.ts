/** Within one unit of the last decimal place asked for. Rule of `reasoning_gym/arithmetic/decimal_arithmetic.py`. */
import { z } from 'zod'
import { Decimal, InvalidOperation } from '../python/decimal.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

// Making an item sets the precision of all the process's decimals: a score is taken to follow the making of its item.
const PrecisionConfig = z.looseObject({ max_num_decimal_places: z.int(), precision: z.int() })

export const decimalArithmetic = defineScorer({
  metadata: z.unknown(),
  score(answer, entry, config) {
    const { max_num_decimal_places: places, precision } = PrecisionConfig.parse(config)
    try {
      const difference = Decimal.parse(answer).subtract(Decimal.parse(requireOracleAnswer(entry)), precision)
      return difference.abs().compare(Decimal.powerOfTen(-places)) <= 0 ? 1 : 0
    } catch (error) {
      if (error instanceof InvalidOperation) return 0
      throw error
    }
  },
})
