/** The share of words that stand in their place; 0.05 for another count of words. Rule of `reasoning_gym/algorithmic/sentence_reordering.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { lower, splitWhitespace } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const sentenceReordering = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const wanted = requireOracleAnswer(entry)
    if (answer === wanted) return 1
    const [words, others] = [splitWhitespace(wanted), splitWhitespace(answer)]
    if (words.length !== others.length) return 0.05
    const right = words.filter((word, i) => lower(word) === lower(others[i] ?? '')).length
    return words.length > 0 ? right / words.length : 0
  },
})
