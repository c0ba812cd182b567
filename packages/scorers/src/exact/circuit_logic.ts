/** Equal, or equal but for outer white space, which costs its share. Rule of `reasoning_gym/logic/circuit_logic.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { codePointLength, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

export const circuitLogic = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    return answer === '' || strip(answer) !== oracle ? 0 : codePointLength(oracle) / codePointLength(answer)
  },
})
