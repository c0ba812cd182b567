/** Rules that read a grid of digits, numbers or colors. */
import { z } from 'zod'
import { catchPythonError, MAX_DIGITS, PyValueError, parseInteger } from './python/numbers.ts'
import { codePointLength, PY_D, rstrip, splitlines, splitWhitespace, strip } from './python/text.ts'
import { defineOracleScorer, defineScorer, requireOracleAnswer } from './scorer.ts'

/** A config names only what differs from the library's defaults. */
const BoardFormat = z.looseObject({
  alphabet: z.array(z.string()).default([...'0123456789']),
  col_delimiter: z.string().default(' '),
  row_delimiter: z.string().default('\n'),
  array_brackets: z.boolean().default(false),
})
type BoardFormat = z.infer<typeof BoardFormat>

const BoardRow = z.strictObject({ $tuple: z.array(z.int()) }).transform((row) => row.$tuple)
const Board = z.strictObject({ $tuple: z.array(BoardRow) }).transform((board) => board.$tuple)

/** 1 for the output board, 0.05 for any other board of the alphabet. Rule of `reasoning_gym/arc/arc_agi.py` and `reasoning_gym/arc/rearc.py`; boards are read as in `reasoning_gym/arc/board_format.py`. */
export const arcBoard = defineScorer({
  metadata: z.looseObject({ output: Board }),
  score(answer, entry, config) {
    const format = BoardFormat.parse(config.board_format_opts ?? {})
    const given = catchPythonError(() => parseBoard(answer, format), undefined)
    if (given === undefined) return 0
    return JSON.stringify(given) === JSON.stringify(entry.metadata.output) ? 1 : 0.05
  },
})

/** Throws PyValueError for a cell that is not of the alphabet. */
function parseBoard(text: string, format: BoardFormat): number[][] {
  const inner = (part: string) => (format.array_brackets ? removeBrackets(part) : part)
  const cells = new Map(format.alphabet.map((letter, i) => [letter, i] as const).reverse())
  const lines = text.split('\n').map((line) => strip(line))
  const grid = strip(lines.filter((line) => !line.startsWith('Shape: ')).join('\n'))
  return splitOnDelimiter(inner(grid), format.row_delimiter).map((row) => {
    const parts = splitOnDelimiter(inner(strip(row)), format.col_delimiter).map((part) => strip(part))
    return parts.filter((part) => part !== '').map((part) => parseCell(cells, part))
  })
}

function parseCell(cells: ReadonlyMap<string, number>, part: string): number {
  const cell = cells.get(part)
  if (cell === undefined) throw new PyValueError('not of the alphabet')
  return cell
}

function removeBrackets(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? strip(text.slice(1, -1)) : text
}

/** Python's `split`, which takes no empty delimiter. */
function splitOnDelimiter(text: string, delimiter: string): string[] {
  if (delimiter === '') throw new PyValueError('empty separator')
  return text.split(delimiter)
}

const DIGIT_PATTERN = /[1-9]/g

/** 1 if equal but for blanks at line ends, 0.9 of the share of right digits otherwise, less if longer than the oracle. Rule of `reasoning_gym/games/sudoku.py`, `reasoning_gym/games/mini_sudoku.py` and `reasoning_gym/games/futoshiki.py`. */
export const digitGrid = defineScorer({
  metadata: z.looseObject({ solution: z.array(z.array(z.int())) }),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    const reward =
      trimLineEnds(answer) === trimLineEnds(oracle) ? 1 : getCorrectCellShare(answer, entry.metadata.solution) * 0.9
    return reward * Math.min(1, codePointLength(oracle) / Math.max(1, codePointLength(answer)))
  },
})

function trimLineEnds(text: string): string {
  return text
    .split('\n')
    .map((line) => rstrip(line))
    .join('\n')
}

/** Lines with a row's number of digits; the others, such as those between rows, are passed over. */
export function parseDigitRows(text: string, size: number): string[][] {
  return text
    .split('\n')
    .map((line) => [...(line.match(DIGIT_PATTERN) ?? [])])
    .filter((digits) => digits.length === size)
}

function getCorrectCellShare(answer: string, solution: readonly (readonly number[])[]): number {
  const size = solution[0]?.length ?? 0
  const rows = parseDigitRows(answer, size)
  const right = solution.flatMap((row, i) => row.filter((cell, j) => String(cell) === rows[i]?.[j]))
  return right.length / (size * size)
}

/** 1 for a grid of 0 and 1 that has the sums of rows and columns. Rule of `reasoning_gym/games/kakurasu.py`. */
export const kakurasu = defineScorer({
  metadata: z.looseObject({
    n_rows: z.int(),
    n_cols: z.int(),
    row_sums: z.array(z.int()),
    col_sums: z.array(z.int()),
  }),
  score(answer, entry) {
    const { n_rows, n_cols, row_sums, col_sums } = entry.metadata
    const lines = strip(answer).split('\n')
    const grid = lines.map((line) => (line.match(/[01]/g) ?? []).map(Number))
    if (grid.length !== n_rows || grid.some((row) => row.length !== n_cols)) return 0
    const columns = col_sums.map((_, j) => grid.map((row) => row[j] ?? 0))
    return hasSums(grid, row_sums) && hasSums(columns, col_sums) ? 1 : 0
  },
})

/** The k-th cell of a line weighs k. */
function hasSums(lines: readonly (readonly number[])[], sums: readonly number[]): boolean {
  return sums.every((sum, i) => lines[i]?.reduce((total, cell, k) => total + cell * (k + 1), 0) === sum)
}

const RELATIVE_TOLERANCE = Math.fround(1e-2)
const ABSOLUTE_TOLERANCE = Math.fround(1e-8)
const FINITE_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const NON_FINITE_PATTERN = /^([+-]?)(?:inf(?:inity)?|(nan))$/i

/** 1 for numbers within 1% of the oracle's, 0.1 for others in the same shape. Rule of `reasoning_gym/algorithmic/pool_matrix.py`, with `loadtxt` and `allclose` of numpy 2 on 32-bit floats. */
export const poolMatrix = defineOracleScorer((answer, oracle) => {
  const wanted = parseMatrix(oracle)
  const given = catchPythonError(() => parseMatrix(answer), [])
  if (getShape(wanted) !== getShape(given)) return 0
  return allClose(wanted.flat(), given.flat()) ? 1 : 0.1
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

/** What Python's `int()` takes of a word. To try each of 30,000 words and catch the error would take a second. */
const INTEGER_PATTERN = new RegExp(`^[+\\-]?${PY_D}+(?:_${PY_D}+)*$`, 'v')

/** 1 for the solution's numbers, whatever else stands between them. Rule of `reasoning_gym/games/survo.py`. */
export const survo = defineScorer({
  metadata: z.looseObject({ board_size: z.int(), solution: z.array(z.array(z.int())) }),
  score(answer, entry) {
    const { board_size: size, solution } = entry.metadata
    const rows = strip(answer)
      .split('\n')
      .map((line) => splitWhitespace(line).filter(isInteger))
    const grid = rows.filter((row) => row.length > 0)
    if (grid.length !== size || grid.some((row) => row.length !== size)) return 0
    return grid.every((row, i) => row.every((word, j) => parseInteger(word) === BigInt(solution[i]?.[j] ?? 0))) ? 1 : 0
  },
})

function isInteger(word: string): boolean {
  return (
    INTEGER_PATTERN.test(word) &&
    (word.length <= MAX_DIGITS || catchPythonError(() => parseInteger(word), undefined) !== undefined)
  )
}
