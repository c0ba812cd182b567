/** An expression of four numbers, each in the config's range, that comes to 24; else 0.01. Rule of `reasoning_gym/games/puzzle24.py`. */
import { z } from 'zod'
import { defineScorer } from '../scorer.ts'
import { findIntegers } from './find-integers.ts'
import { evaluateToNum, truncateNum } from './functions.ts'
import { parseExpression } from './parser.ts'
import { UnsupportedExpressionError } from './tokens.ts'

const NUMBER_COUNT = 4
const NumberRangeConfig = z.looseObject({ min_value: z.int(), max_value: z.int() })

export const puzzle24 = defineScorer({
  metadata: z.unknown(),
  score(answer, _entry, config) {
    const { min_value: least, max_value: most } = NumberRangeConfig.parse(config)
    const used = findIntegers(answer) ?? []
    const isFair = used.length === NUMBER_COUNT && used.every((number) => number >= least && number <= most)
    return isFair && evaluateToInteger(answer) === 24n ? 1 : 0.01
  },
})

/** What is behind the point is dropped, as by Python's `int()`: 24.9 is 24. */
function evaluateToInteger(answer: string): bigint | undefined {
  try {
    return truncateNum(evaluateToNum(parseExpression(answer)))
  } catch (error) {
    if (error instanceof UnsupportedExpressionError) return undefined
    throw error
  }
}
