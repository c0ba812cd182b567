/** The count, or less by 0.16 for each one it is off, to none at five. Rule of `reasoning_gym/cognition/rectangle_count.py`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const MAX_ERROR = 5
const MAX_PARTIAL_CREDIT = 0.8

export const rectangleCount = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    try {
      const off = Math.abs(Number(parseInteger(strip(answer)) - parseInteger(requireOracleAnswer(entry))))
      if (off === 0) return 1
      return off >= MAX_ERROR ? 0 : MAX_PARTIAL_CREDIT * (1 - off / MAX_ERROR)
    } catch (error) {
      if (error instanceof PyValueError) return 0
      throw error
    }
  },
})
