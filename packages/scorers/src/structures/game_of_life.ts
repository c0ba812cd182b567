/** The share of cells that are right; raises where a dict stands for a row. Rule of `reasoning_gym/algorithmic/game_of_life.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { codePoints } from '../python/text.ts'
import { equals, iterate, PyDict, type PyValue } from '../python/values.ts'
import { defineScorer, InvalidAnswerError, requireOracleAnswer } from '../scorer.ts'

export const gameOfLife = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const given = catchPythonError(() => loads(answer), undefined)
    if (given === undefined) return 0
    const wanted = iterate(loads(requireOracleAnswer(entry))).map(iterate)
    const rows = toIndexable(given)
    const right = wanted.map((row, i) => countMatches(row, toIndexable(rows[i])))
    return sum(right) / sum(wanted.map((row) => row.length))
  },
})

/** What an index finds in a value: nothing in a number, and a dict has no key that is one. */
function toIndexable(value: PyValue | undefined): readonly PyValue[] {
  if (value instanceof PyDict) throw new InvalidAnswerError('a dict has no such key')
  if (typeof value === 'string') return codePoints(value)
  return Array.isArray(value) ? value : []
}

function countMatches(wanted: readonly PyValue[], given: readonly PyValue[]): number {
  return wanted.filter((cell, j) => equals(cell, given[j] ?? null)).length
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
