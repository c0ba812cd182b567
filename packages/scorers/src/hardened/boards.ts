/** Boards: only what had to be found counts, neither the givens nor the cells that stay dead. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { codePointLength } from '../python/text.ts'
import type { PyValue } from '../python/values.ts'
import { requireOracleAnswer } from '../scorer.ts'
import { getBestScore, listAnswerVariants } from './answer-variants.ts'
import { type HardenedScorer, isFullScore } from './hardened-scorer.ts'
import { creditPastHalf } from './partial-credit.ts'

const DIGIT_PATTERN = /[1-9]/g
const CellGrid = z.array(z.array(z.int()))

/** Sudoku, mini sudoku and futoshiki: the blanks past half of them, where all givens stand. */
export const hardenedDigitGrid: HardenedScorer = ({ entry, upstream }) => {
  const { puzzle, solution } = z.looseObject({ puzzle: CellGrid, solution: CellGrid }).parse(entry.metadata)
  const oracle = requireOracleAnswer(entry)
  const [blanks, size] = [puzzle.flat().filter((cell) => cell === 0).length, solution[0]?.length ?? 0]
  return (answer) =>
    getBestScore(listAnswerVariants(answer), (reading) => {
      if (isFullScore(upstream(reading))) return 1
      const rows = parseDigitRows(reading, size)
      const cells = solution.flatMap((row, i) =>
        row.map((cell, j) => ({ given: puzzle[i]?.[j] !== 0, right: rows[i]?.[j] === String(cell) })),
      )
      if (cells.some(({ given, right }) => given && !right)) return 0
      const found = cells.filter(({ given, right }) => !given && right).length
      return (
        creditPastHalf(found, blanks) * Math.min(1, codePointLength(oracle) / Math.max(1, codePointLength(reading)))
      )
    })
}

/** Lines with a row's number of digits; the others, such as those between rows, are passed over. */
function parseDigitRows(text: string, size: number): string[][] {
  return text
    .split('\n')
    .map((line) => [...(line.match(DIGIT_PATTERN) ?? [])])
    .filter((digits) => digits.length === size)
}

/** The living cells that both boards have, of all that either has: an empty board, a full one and the first one earn nothing. */
export const hardenedGameOfLife: HardenedScorer = ({ entry }) => {
  const wanted = parseBoard(requireOracleAnswer(entry))
  if (wanted === undefined) throw new Error('the oracle is no board')
  return (answer) =>
    getBestScore(listAnswerVariants(answer), (reading) => {
      const given = parseBoard(reading)
      if (given === undefined || getShape(given) !== getShape(wanted)) return 0
      const [a, b] = [wanted.flat(), given.flat()]
      const either = a.filter((cell, i) => cell || b[i]).length
      const both = a.filter((cell, i) => cell && b[i]).length
      return both === either ? 1 : creditPastHalf(both, either)
    })
}

type Board = boolean[][]

/** Rows of 0 and 1 (or booleans); undefined for anything else. */
function parseBoard(text: string): Board | undefined {
  const rows = catchPythonError(() => loads(text), null)
  if (!Array.isArray(rows)) return undefined
  const board = rows.map((row) => (Array.isArray(row) ? row.map(parseCell) : [undefined]))
  return board.every((row): row is boolean[] => !row.includes(undefined)) ? board : undefined
}

function parseCell(value: PyValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  return value === 1n || value === 0n ? value === 1n : undefined
}

function getShape(board: Board): string {
  return board.map((row) => row.length).join()
}
