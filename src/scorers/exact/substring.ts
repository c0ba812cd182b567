/** The base rule, of all tasks without one of their own: 1 if equal, the oracle's share where the answer holds it. Rule of `reasoning_gym/dataset.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { length } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const substring = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = oracleOf(entry)
    return answer === '' ? 0 : answer === oracle ? 1 : shareOf(oracle, answer)
  },
})

/** The oracle's length over the answer's, in code points, where the answer holds the oracle; else 0. */
export function shareOf(oracle: string, answer: string): number {
  return answer.includes(oracle) && answer !== '' ? length(oracle) / length(answer) : 0
}
