/** 1 for numbers within 1% of the oracle's, 0.1 for others in the same shape. Rule of `reasoning_gym/algorithmic/pool_matrix.py`, with `loadtxt` and `allclose` of numpy 2 on 32-bit floats. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { PyValueError } from '../python/numbers.ts'
import { splitlines, splitWhitespace } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const RELATIVE_TOLERANCE = Math.fround(1e-2)
const ABSOLUTE_TOLERANCE = Math.fround(1e-8)
const FINITE_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const NON_FINITE_PATTERN = /^([+-]?)(?:inf(?:inity)?|(nan))$/i

export const poolMatrix = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const wanted = parseMatrix(requireOracleAnswer(entry))
    const given = catchPythonError(() => parseMatrix(answer), [])
    if (getShape(wanted) !== getShape(given)) return 0
    return allClose(wanted.flat(), given.flat()) ? 1 : 0.1
  },
})

/** Rows of equal length, without comments and empty lines; throws PyValueError otherwise. */
function parseMatrix(text: string): number[][] {
  const lines = splitlines(text).map((line) => splitWhitespace(line.replace(/#.*/s, '')))
  const rows = lines.filter((words) => words.length > 0)
  if (rows.some((words) => words.length !== rows[0]?.length)) throw new PyValueError('rows of unequal length')
  return rows.map((words) => words.map(parseFloat32))
}

/** numpy drops the dimensions of size 1: a row and a column are alike. */
function getShape(rows: readonly (readonly number[])[]): string {
  const sizes = [rows.length, rows[0]?.length ?? 0]
  return sizes.filter((size) => size !== 1).join()
}

function parseFloat32(word: string): number {
  if (FINITE_PATTERN.test(word)) return Math.fround(Number(word))
  const [found, sign, nan] = NON_FINITE_PATTERN.exec(word) ?? []
  if (found === undefined) throw new PyValueError('no float')
  if (nan !== undefined) return Number.NaN
  return sign === '-' ? -Infinity : Infinity
}

function allClose(wanted: readonly number[], given: readonly number[]): boolean {
  return wanted.every((x, i) => isClose(x, given[i] ?? Number.NaN))
}

/** Each step is rounded to 32 bits. */
function isClose(x: number, y: number): boolean {
  const tolerance = Math.fround(ABSOLUTE_TOLERANCE + Math.fround(RELATIVE_TOLERANCE * Math.abs(y)))
  return x === y || (Number.isFinite(y) && Math.abs(Math.fround(x - y)) <= tolerance)
}
