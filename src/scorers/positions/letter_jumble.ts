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
    const right = words.filter((word, i) => word === others[i]).length
    return words.length > 0 ? right / words.length : 0
  },
})
