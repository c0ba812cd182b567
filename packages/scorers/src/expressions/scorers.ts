/** Rules that read an arithmetic expression. */
import { z } from 'zod'
import { parseLiteral } from '../python/literal.ts'
import { catchPythonError, parseFloat64, parseInteger } from '../python/numbers.ts'
import { PY_D, PY_W, strip } from '../python/text.ts'
import { formatMultiset } from '../quantities.ts'
import { defineOracleScorer, defineScorer } from '../scorer.ts'
import { getExprKey } from './expr.ts'
import { evaluateToNum } from './functions.ts'
import { getNumKey, numToDouble, truncateNum } from './numbers.ts'
import { parseExpression } from './parser.ts'

const NUMBER_PATTERN = new RegExp(`(?<!${PY_W})${PY_D}+(?!${PY_W})`, 'gv')

/** The whole numbers with nothing of a word beside them, in their order; undefined where one has more digits than Python reads. */
function findIntegers(text: string): bigint[] | undefined {
  return catchPythonError(() => (text.match(NUMBER_PATTERN) ?? []).map((digits) => parseInteger(digits)), undefined)
}

/** An expression of the given numbers that comes to the target; 0.05 for any other value, 0.01 for none. Rule of `reasoning_gym/games/countdown.py`. */
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
  const value = catchPythonError(() => evaluateToNum(parseExpression(answer)), undefined)
  return value === undefined || getNumKey(value) === 'zoo' ? undefined : numToDouble(value)
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

const NUMBER_COUNT = 4
const NumberRangeConfig = z.looseObject({ min_value: z.int(), max_value: z.int() })

/** An expression of four numbers, each in the config's range, that comes to 24; else 0.01. Rule of `reasoning_gym/games/puzzle24.py`. */
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
  return catchPythonError(() => truncateNum(evaluateToNum(parseExpression(answer))), undefined)
}

/** The product as sympy writes it: multiplied out, in any order. Rule of `reasoning_gym/algebra/polynomial_multiplication.py`. */
export const polynomialMultiplication = defineOracleScorer((answer, oracle) =>
  catchPythonError(() => (getExprKey(parseExpression(answer)) === getExprKey(parseExpression(oracle)) ? 1 : 0), 0),
)
