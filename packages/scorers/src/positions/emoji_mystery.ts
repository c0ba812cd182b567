/** The share of characters that stand in their place; 0.01 for another length. Rule of `reasoning_gym/games/emoji_mystery.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { codePoints } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const emojiMystery = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [wanted, given] = [codePoints(requireOracleAnswer(entry)), codePoints(answer)]
    if (wanted.length !== given.length) return 0.01
    if (wanted.length === 0) return 1
    return wanted.filter((ch, i) => ch === given[i]).length / wanted.length
  },
})
