/** Equal word by word, whatever white space is between. Rule of `reasoning_gym/graphs/path_star.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { splitWhitespace } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const pathStar = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const words = splitWhitespace(answer).join(' ')
    return words !== '' && words === splitWhitespace(requireOracleAnswer(entry)).join(' ') ? 1 : 0
  },
})
