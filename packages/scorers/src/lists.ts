/** Rules that read a list or a matrix, as JSON or as a Python literal. */
import { z } from 'zod'
import { loads } from './python/json.ts'
import { parseLiteral } from './python/literal.ts'
import { catchPythonError, PyValueError, parseFloat64 } from './python/numbers.ts'
import { codePoints, strip } from './python/text.ts'
import {
  equals,
  iterate,
  PyDict,
  PyFloat,
  PySet,
  PyTuple,
  PyTypeError,
  type PyValue,
  sortByKey,
  str,
} from './python/values.ts'
import { defineOracleScorer, defineScorer, InvalidAnswerError, requireOracleAnswer } from './scorer.ts'

/** Items joined by spaces, rows by line ends; `write` gives an item's text. Throws PyTypeError where Python cannot. */
function formatMatrix(matrix: PyValue, write: (item: PyValue) => string): string {
  return iterate(matrix)
    .map((row) => iterate(row).map(write).join(' '))
    .join('\n')
}

/** For Python's `join`, which takes texts alone. */
function requireText(item: PyValue): string {
  if (typeof item !== 'string') throw new PyTypeError('no text')
  return item
}

/** 1 if equal, 0.1 for the same matrix as a Python literal. Rule of `reasoning_gym/algorithmic/binary_matrix.py`. */
export const binaryMatrix = defineOracleScorer((answer, oracle) => {
  if (answer === oracle) return 1
  return catchPythonError(() => (formatMatrix(parseLiteral(answer), str) === oracle ? 0.1 : 0), 0)
})

/** The share of cells that are right; raises where a dict stands for a row. Rule of `reasoning_gym/algorithmic/game_of_life.py`. */
export const gameOfLife = defineOracleScorer((answer, oracle) => {
  const given = catchPythonError(() => loads(answer), undefined)
  if (given === undefined) return 0
  const wanted = iterate(loads(oracle)).map(iterate)
  const rows = toIndexable(given)
  const cells = wanted.flatMap((row, i) => {
    const others = toIndexable(rows[i])
    return row.map((cell, j) => equals(cell, others[j] ?? null))
  })
  return cells.filter(Boolean).length / cells.length
})

/** What an index finds in a value: nothing in a number, and a dict has no key that is one. */
function toIndexable(value: PyValue | undefined): readonly PyValue[] {
  if (value instanceof PyDict) throw new InvalidAnswerError('a dict has no such key')
  if (typeof value === 'string') return codePoints(value)
  return Array.isArray(value) ? value : []
}

/** 1 for the same groups in any order, 0.01 for any other list of lists. Rule of `reasoning_gym/algorithmic/group_anagrams.py`. */
export const groupAnagrams = defineScorer({
  metadata: z.looseObject({ solution: z.array(z.array(z.string())) }),
  score: (answer, entry) =>
    catchPythonError(() => (equals(sortGroups(loads(answer)), sortGroups(entry.metadata.solution)) ? 1 : 0.01), 0),
})

/** Groups with the same first word keep their order. */
function sortGroups(groups: PyValue): PyValue[][] {
  const each = iterate(groups).map((group) => sortByKey(iterate(group), (word) => word))
  return sortByKey(each, (group) => group[0] ?? '')
}

/** 1 for one of the solutions, 0.5 for one as a Python literal. Rule of `reasoning_gym/games/n_queens.py`. */
export const nQueens = defineScorer({
  metadata: z.looseObject({ valid_answers: z.array(z.string()) }),
  score(answer, entry) {
    const solutions = entry.metadata.valid_answers
    if (solutions.includes(answer)) return 1
    return catchPythonError(() => (solutions.includes(formatMatrix(parseLiteral(answer), requireText)) ? 0.5 : 0), 0)
  },
})

const SORTING_TOLERANCE = 1

/** 1 for a sorted list, each number within 1 of the oracle's. Rule of `reasoning_gym/algorithmic/number_sorting.py`. */
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
  return numbers.every((number, i) => !(Math.abs(number - (wanted[i] ?? 0)) > SORTING_TOLERANCE))
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

/** 1 for the same set of partitions. Rule of `reasoning_gym/algorithmic/palindrome_partitioning.py`. */
export const palindromePartitioning = defineScorer({
  metadata: z.looseObject({ solution: z.array(z.array(z.string())) }),
  score: (answer, entry) =>
    catchPythonError(() => (equals(toPartitionSet(loads(answer)), toPartitionSet(entry.metadata.solution)) ? 1 : 0), 0),
})

function toPartitionSet(lists: PyValue): PySet {
  return new PySet(iterate(lists).map((list) => new PyTuple(iterate(list))))
}

/** 1 if equal but for outer white space, 0.1 for the same list as a Python literal. Rule of `reasoning_gym/algorithmic/spiral_matrix.py`. */
export const spiralMatrix = defineOracleScorer((answer, oracle) => {
  const [given, wanted] = [strip(answer), strip(oracle)]
  if (answer === '') return 0
  if (given === wanted) return 1
  return catchPythonError(() => (iterate(parseLiteral(given)).map(str).join(' ') === wanted ? 0.1 : 0), 0)
})

/** 1 if equal, 0.1 for the same text as a Python list of its parts. Rule of `reasoning_gym/algorithmic/string_insertion.py`. */
export const stringInsertion = defineOracleScorer((answer, oracle) => {
  if (answer === oracle) return 1
  return catchPythonError(() => (iterate(parseLiteral(answer)).map(requireText).join('') === oracle ? 0.1 : 0), 0)
})
