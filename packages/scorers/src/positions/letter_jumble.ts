/** The share of words that stand in their place, without letter case. Rule of `reasoning_gym/algorithmic/letter_jumble.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { lower, splitWhitespace, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const letterJumble = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [wanted, given] = [lower(strip(requireOracleAnswer(entry))), lower(strip(answer))]
    if (given === wanted) return 1
    const [words, others] = [splitWhitespace(wanted), splitWhitespace(given)]
    let sum = 0 // adding up equal parts rounds otherwise than a quotient does
    for (const [i, word] of words.entries()) if (word === others[i]) sum += 1 / words.length
    return Math.min(1, sum)
  },
})
