/** An expression of four numbers, each in the config's range, that comes to 24; else 0.01. Rule of `reasoning_gym/games/puzzle24.py`. */
import { z } from 'zod'
import { defineScorer } from '../scorer.ts'
import { numberOf, truncated } from './functions.ts'
import { numbersIn } from './numbers_in.ts'
import { readExpression } from './reader.ts'
import { Refused } from './refused.ts'

const NUMBERS = 4
const Range = z.looseObject({ min_value: z.int(), max_value: z.int() })

export const puzzle24 = defineScorer({
  metadata: z.unknown(),
  score(answer, _entry, config) {
    const { min_value: least, max_value: most } = Range.parse(config)
    const used = numbersIn(answer) ?? []
    const isFair = used.length === NUMBERS && used.every((number) => number >= least && number <= most)
    return isFair && integerOf(answer) === 24n ? 1 : 0.01
  },
})

/** What is behind the point is dropped, as by Python's `int()`: 24.9 is 24. */
function integerOf(answer: string): bigint | undefined {
  try {
    return truncated(numberOf(readExpression(answer)))
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}
