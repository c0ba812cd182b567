/** The count, or less by 0.16 for each one it is off, to none at five. Rule of `reasoning_gym/cognition/rectangle_count.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

const REACH = 5
const NEAR = 0.8

export const rectangleCount = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    try {
      const off = Math.abs(Number(parseInteger(strip(answer)) - parseInteger(oracleOf(entry))))
      if (off === 0) return 1
      return off >= REACH ? 0 : NEAR * (1 - off / REACH)
    } catch (error) {
      if (error instanceof PyValueError) return 0
      throw error
    }
  },
})
