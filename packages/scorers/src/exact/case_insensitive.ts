/** Equal without letter case and line ends. Rule of `reasoning_gym/arithmetic/dice.py` and `reasoning_gym/logic/zebra_puzzles.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { lower } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const caseInsensitiveMatch = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) => (foldCase(answer) === foldCase(requireOracleAnswer(entry)) ? 1 : 0),
})

function foldCase(text: string): string {
  return lower(text).replaceAll('\n', '')
}
