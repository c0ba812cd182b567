/** Equal word by word, whatever white space is between. Rule of `reasoning_gym/graphs/path_star.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { split } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const pathStar = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const words = split(answer).join(' ')
    return words !== '' && words === split(oracleOf(entry)).join(' ') ? 1 : 0
  },
})
