/** The base rule, of all tasks without one of their own: 1 if equal, the oracle's share where the answer holds it. Rule of `reasoning_gym/dataset.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { codePointLength } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const substringMatch = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    return answer === '' ? 0 : answer === oracle ? 1 : getSubstringCredit(oracle, answer)
  },
})

/** The oracle's length over the answer's, in code points, where the answer holds the oracle; else 0. */
export function getSubstringCredit(oracle: string, answer: string): number {
  return answer.includes(oracle) && answer !== '' ? codePointLength(oracle) / codePointLength(answer) : 0
}
