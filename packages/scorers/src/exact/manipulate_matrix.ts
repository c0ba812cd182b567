/** Equal row by row, whatever white space is between, or the oracle's share. Rule of `reasoning_gym/algorithmic/manipulate_matrix.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { splitWhitespace, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'
import { getSubstringCredit } from './substring_match.ts'

export const manipulateMatrix = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    if (answer === '') return 0
    const oracle = strip(requireOracleAnswer(entry))
    const bare = strip(answer)
    if (bare === oracle) return 1
    const rows = bare.split('\n').map((row) => splitWhitespace(row).join(' '))
    const matrix = strip(rows.join('\n'))
    return matrix === oracle ? 1 : getSubstringCredit(oracle, matrix)
  },
})
