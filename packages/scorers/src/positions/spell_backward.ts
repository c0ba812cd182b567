/** The share of characters that stand in their place; junk behind them is forgiven. Rule of `reasoning_gym/algorithmic/spell_backward.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { codePoints, lower } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const spellBackward = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [wanted, given] = [codePoints(lower(requireOracleAnswer(entry))), codePoints(lower(answer))]
    if (wanted.join('') === given.join('')) return 1
    // Summed one by one: only where the parts give 1 exactly in floating point does the library take 0.2 off.
    let reward = 0
    for (const [i, ch] of wanted.entries()) if (ch === given[i]) reward += 1 / wanted.length
    return reward === 1 ? 0.8 : reward
  },
})
