/** 1 if equal, 0.1 for the same matrix as a Python literal. Rule of `reasoning_gym/algorithmic/binary_matrix.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { literal } from '../python/literal.ts'
import { caught } from '../python/raised.ts'
import { str } from '../python/values.ts'
import { defineScorer } from '../scorer.ts'
import { written } from './written_matrix.ts'

export const binaryMatrix = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = oracleOf(entry)
    if (answer === oracle) return 1
    return caught(() => (written(literal(answer), str) === oracle ? 0.1 : 0), 0)
  },
})
