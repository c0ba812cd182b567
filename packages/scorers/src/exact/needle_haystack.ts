/** Equal without letter case, with no spaces in the answer. Rule of `reasoning_gym/cognition/needle_haystack.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { lower, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const needleHaystack = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) =>
    lower(strip(answer.replaceAll(' ', ''))) === lower(strip(requireOracleAnswer(entry))) ? 1 : 0,
})
