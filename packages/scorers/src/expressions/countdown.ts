/** An expression of the given numbers that comes to the target; 0.05 for any other value, 0.01 for none. Rule of `reasoning_gym/games/countdown.py`. */
import { z } from 'zod'
import { parseLiteral } from '../python/literal.ts'
import { parseFloat64 } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'
import { findIntegers } from './find-integers.ts'
import { evaluateToNum } from './functions.ts'
import { getNumKey, numToDouble } from './numbers.ts'
import { parseExpression } from './parser.ts'
import { UnsupportedExpressionError } from './tokens.ts'

export const countdown = defineScorer({
  metadata: z.looseObject({ numbers: z.array(z.int()), target: z.int() }),
  score(answer, { metadata: { numbers, target } }) {
    if (strip(answer) === '') return 0.01
    const value = /['"]/.test(answer) ? parseQuotedNumber(answer) : evaluateToFloat(answer)
    const used = findIntegers(answer)
    if (value === undefined || used === undefined) return 0.01
    const isFair = formatMultiset(used) === formatMultiset(numbers.map(BigInt))
    return isFair && Math.abs(value - target) <= 1e-6 + 1e-5 * Math.abs(target) ? 1 : 0.05
  },
})

/** Undefined where Python finds no float in it. */
function evaluateToFloat(answer: string): number | undefined {
  try {
    const value = evaluateToNum(parseExpression(answer))
    return getNumKey(value) === 'zoo' ? undefined : numToDouble(value)
  } catch (error) {
    if (error instanceof UnsupportedExpressionError) return undefined
    throw error
  }
}

/** `"24"` is a text, which Python's `float()` reads. */
function parseQuotedNumber(answer: string): number | undefined {
  try {
    const text = parseLiteral(strip(answer))
    return typeof text === 'string' ? parseFloat64(text) : undefined
  } catch {
    return undefined
  }
}

/** A multiset as text: any order will do, as long as it is always the same. */
function formatMultiset(numbers: readonly bigint[]): string {
  return numbers.toSorted((a, b) => Number(a > b) - Number(a < b)).join()
}
