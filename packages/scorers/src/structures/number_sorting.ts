/** 1 for a sorted list, each number within 1 of the oracle's. Rule of `reasoning_gym/algorithmic/number_sorting.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { parseLiteral } from '../python/literal.ts'
import { PyValueError, parseFloat64 } from '../python/numbers.ts'
import { iterate, PyFloat, PyTypeError, type PyValue } from '../python/values.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const TOLERANCE = 1

export const numberSorting = defineScorer({
  metadata: z.looseObject({ direction: z.string() }),
  score: (answer, entry) =>
    catchPythonError(() => {
      const given = loads(answer.replaceAll("'", '"'))
      if (!Array.isArray(given)) return 0
      const wanted = iterate(parseLiteral(requireOracleAnswer(entry)))
      if (given.length !== wanted.length) return 0
      const numbers = given.map(toFloat)
      if (!isSorted(numbers, entry.metadata.direction === 'ascending')) return 0
      return isNear(numbers, wanted.map(toFloat)) ? 1 : 0
    }, 0),
})

/** Whether Python's sort would leave it as it is. That is also true of what is no number: it is never less. */
function isSorted(numbers: readonly number[], ascending: boolean): boolean {
  return numbers.every((number, i) => {
    const before = numbers[i - 1] ?? number
    return ascending ? !(number < before) : !(before < number)
  })
}

function isNear(numbers: readonly number[], wanted: readonly number[]): boolean {
  return numbers.every((number, i) => !(Math.abs(number - (wanted[i] ?? 0)) > TOLERANCE))
}

/** Python's `float()`. */
function toFloat(value: PyValue): number {
  if (value instanceof PyFloat) return value.value
  if (typeof value === 'string') return parseFloat64(value)
  if (typeof value !== 'bigint' && typeof value !== 'boolean') throw new PyTypeError('no number')
  const number = Number(value)
  if (!Number.isFinite(number)) throw new PyValueError('an int too large for a float')
  return number
}
