/** The first number in the answer, equal as a float; 0.01 for any other number. Rule of `reasoning_gym/arithmetic/gsm_symbolic/gsm_symbolic.py`. */
import { z } from 'zod'
import { PyValueError, parseFloat64 } from '../python/numbers.ts'
import { PY_D, PY_W } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const WORD_BOUNDARY = `(?:(?<=${PY_W})(?!${PY_W})|(?<!${PY_W})(?=${PY_W}))`
const NUMBER_PATTERN = new RegExp(`${WORD_BOUNDARY}-?${PY_D}+(?:\\.${PY_D}+)?${WORD_BOUNDARY}`, 'v')

export const gsmSymbolic = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const found = NUMBER_PATTERN.exec(answer)
    if (found === null) return 0
    try {
      return parseFloat64(found[0]) === parseFloat64(requireOracleAnswer(entry)) ? 1 : 0.01
    } catch (error) {
      if (error instanceof PyValueError) return 0
      throw error
    }
  },
})
