/** The share of cells that are right; raises where a dict stands for a row. Rule of `reasoning_gym/algorithmic/game_of_life.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { loads } from '../python/json.ts'
import { caught } from '../python/raised.ts'
import { codePoints } from '../python/text.ts'
import { equals, iterate, PyDict, type PyValue } from '../python/values.ts'
import { defineScorer, InvalidAnswer } from '../scorer.ts'

export const gameOfLife = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const given = caught(() => loads(answer), undefined)
    if (given === undefined) return 0
    const wanted = iterate(loads(oracleOf(entry))).map(iterate)
    const rows = indexed(given)
    const right = wanted.map((row, i) => matches(row, indexed(rows[i])))
    return sum(right) / sum(wanted.map((row) => row.length))
  },
})

/** What an index finds in a value: nothing in a number, and a dict has no key that is one. */
function indexed(value: PyValue | undefined): readonly PyValue[] {
  if (value instanceof PyDict) throw new InvalidAnswer('a dict has no such key')
  if (typeof value === 'string') return codePoints(value)
  return Array.isArray(value) ? value : []
}

function matches(wanted: readonly PyValue[], given: readonly PyValue[]): number {
  return wanted.filter((cell, j) => equals(cell, given[j] ?? null)).length
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
