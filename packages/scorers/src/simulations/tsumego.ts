/** The move, or its share of the text that holds it; 0.05 for another point. Rule of `reasoning_gym/games/tsumego.py`. */
import { z } from 'zod'
import { codePointLength, PY_D, strip, upper } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const POINT_PATTERN = new RegExp(`^[A-Z]${PY_D}+$`, 'v')

export const tsumego = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    if (answer === '') return 0
    const [wanted, given] = [strip(requireOracleAnswer(entry)), upper(strip(answer))]
    if (given === wanted) return 1
    if (given.includes(wanted)) return codePointLength(wanted) / codePointLength(given)
    return POINT_PATTERN.test(given) ? 0.05 : 0.01
  },
})
