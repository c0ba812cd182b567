/** Equal to the last character. Rule of `reasoning_gym/algorithmic/ab.py` and `reasoning_gym/logic/self_reference.py`. */
import { z } from 'zod'
import { defineScorer } from '../scorer.ts'

export const exactMatch = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) => (answer === entry.answer ? 1 : 0),
})
