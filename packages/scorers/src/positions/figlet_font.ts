/** 0.1 for each letter that stands in its place, without letter case and blanks. Rule of `reasoning_gym/cognition/figlet_fonts.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { codePoints, lower, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const figletFont = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [wanted, given] = [lower(strip(requireOracleAnswer(entry))), lower(strip(answer.replaceAll(' ', '')))]
    if (given === wanted) return 1
    const letters = codePoints(given)
    const right = codePoints(wanted).filter((ch, i) => ch === letters[i]).length
    return Math.min(right * 0.1, 1)
  },
})
