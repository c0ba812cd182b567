/** Less than 0.01 away, commas left out. Rule of `reasoning_gym/arithmetic/number_format.py`. */
import { z } from 'zod'
import { PyValueError, parseFloat64 } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'
import { TypedFloat } from './typed-schemas.ts'

export const numberFormat = defineScorer({
  metadata: z.looseObject({ solution: TypedFloat }),
  score(answer, entry) {
    try {
      return Math.abs(parseFloat64(strip(answer).replaceAll(',', '')) - entry.metadata.solution) < 1e-2 ? 1 : 0
    } catch (error) {
      if (error instanceof PyValueError) return 0
      throw error
    }
  },
})
