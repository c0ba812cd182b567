/** Boards: only what had to be found counts, neither the givens nor the cells that stay dead. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { loads } from '../python/json.ts'
import { caught } from '../python/raised.ts'
import { length } from '../python/text.ts'
import type { PyValue } from '../python/values.ts'
import { type Hardening, isWhole } from './hardening.ts'
import { pastHalf } from './past_half.ts'
import { best, readingsOf } from './readings.ts'

const digit = /[1-9]/g
const Cells = z.array(z.array(z.int()))

/** Sudoku, mini sudoku and futoshiki: the blanks past half of them, where all givens stand. */
export const digitGrid: Hardening = ({ entry, upstream }) => {
  const { puzzle, solution } = z.looseObject({ puzzle: Cells, solution: Cells }).parse(entry.metadata)
  const oracle = oracleOf(entry)
  const [blanks, size] = [puzzle.flat().filter((cell) => cell === 0).length, solution[0]?.length ?? 0]
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      if (isWhole(upstream(reading))) return 1
      const rows = rowsOf(reading, size)
      const cells = solution.flatMap((row, i) =>
        row.map((cell, j) => ({ given: puzzle[i]?.[j] !== 0, right: rows[i]?.[j] === String(cell) })),
      )
      if (cells.some(({ given, right }) => given && !right)) return 0
      const found = cells.filter(({ given, right }) => !given && right).length
      return pastHalf(found, blanks) * Math.min(1, length(oracle) / Math.max(1, length(reading)))
    })
}

/** Lines with a row's number of digits; the others, such as those between rows, are passed over. */
function rowsOf(text: string, size: number): string[][] {
  return text
    .split('\n')
    .map((line) => [...(line.match(digit) ?? [])])
    .filter((digits) => digits.length === size)
}

/** The living cells that both boards have, of all that either has: an empty board, a full one and the first one earn nothing. */
export const gameOfLife: Hardening = ({ entry }) => {
  const wanted = boardOf(oracleOf(entry))
  if (wanted === undefined) throw new Error('the oracle is no board')
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      const given = boardOf(reading)
      if (given === undefined || shapeOf(given) !== shapeOf(wanted)) return 0
      const [a, b] = [wanted.flat(), given.flat()]
      const either = a.filter((cell, i) => cell || b[i]).length
      const both = a.filter((cell, i) => cell && b[i]).length
      return both === either ? 1 : pastHalf(both, either)
    })
}

type Board = boolean[][]

/** Rows of 0 and 1 (or booleans); undefined for anything else. */
function boardOf(text: string): Board | undefined {
  const rows = caught(() => loads(text), null)
  if (!Array.isArray(rows)) return undefined
  const board = rows.map((row) => (Array.isArray(row) ? row.map(cellOf) : [undefined]))
  return board.every((row): row is boolean[] => !row.includes(undefined)) ? board : undefined
}

function cellOf(value: PyValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  return value === 1n || value === 0n ? value === 1n : undefined
}

function shapeOf(board: Board): string {
  return board.map((row) => row.length).join()
}
