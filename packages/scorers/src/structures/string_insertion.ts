/** 1 if equal, 0.1 for the same text as a Python list of its parts. Rule of `reasoning_gym/algorithmic/string_insertion.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { parseLiteral } from '../python/literal.ts'
import { iterate } from '../python/values.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'
import { requireText } from './matrix-text.ts'

export const stringInsertion = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    if (answer === oracle) return 1
    return catchPythonError(() => (iterate(parseLiteral(answer)).map(requireText).join('') === oracle ? 0.1 : 0), 0)
  },
})
