/** 1 if equal, 0.1 for the same text as a Python list of its parts. Rule of `reasoning_gym/algorithmic/string_insertion.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { literal } from '../python/literal.ts'
import { caught } from '../python/raised.ts'
import { iterate } from '../python/values.ts'
import { defineScorer } from '../scorer.ts'
import { textOf } from './written_matrix.ts'

export const stringInsertion = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = oracleOf(entry)
    if (answer === oracle) return 1
    return caught(() => (iterate(literal(answer)).map(textOf).join('') === oracle ? 0.1 : 0), 0)
  },
})
