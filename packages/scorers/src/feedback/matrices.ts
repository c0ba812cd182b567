/** Matrices that are computed from a matrix of the question, and boards of colors: what their shape and contents must be. */
import { DIGITS, gridAnswer, jsonAnswer, readGrid } from './forms.ts'
import {
  brokenRule,
  count,
  createMultisetCheck,
  type Explainer,
  formatFault,
  QuestionError,
  readPart,
  type Violation,
} from './violation.ts'

type Grid = readonly (readonly string[])[]

const COLORS = /^\d$/

/** A grid of colors; the size of the output is part of what has to be found. */
export const arcBoard: Explainer = (question) => {
  readGrid(question, COLORS) // another alphabet or another way to write boards is for the library to explain
  return gridAnswer({ cell: COLORS, noun: 'number' })
}

function sameShape(matrix: Grid, cell: RegExp, check?: (grid: string[][]) => Violation | undefined) {
  return gridAnswer({ rows: matrix.length, columns: matrix[0]?.length ?? 0, cell, noun: 'number' }, check)
}

export const poolMatrix: Explainer = (question) => {
  const matrix = readGrid(question, DIGITS)
  const kernel = Number(readPart(question, /kernel size of (\d+)/))
  const divide = (length = 0) => Math.ceil(length / kernel)
  return gridAnswer({
    rows: divide(matrix.length),
    columns: divide(matrix[0]?.length),
    cell: /^-?\d+(?:\.\d+)?$/,
    noun: 'number',
  })
}

/** One distance for each number. */
export const binaryMatrix: Explainer = (question) => sameShape(readGrid(question, DIGITS), /^\d+$/)

/** A rotation keeps the numbers. */
export const rotateMatrix: Explainer = (question) => {
  const matrix = readGrid(question, DIGITS)
  const check = createMultisetCheck(matrix.flat(), 'number', 'the matrix')
  return sameShape(matrix, DIGITS, (grid) => check(grid.flat()))
}

export const spiralMatrix: Explainer = (question) => {
  const matrix = readGrid(question, DIGITS)
  const check = createMultisetCheck(matrix.flat(), 'number', 'the matrix')
  return gridAnswer({ rows: 1, cell: DIGITS, noun: 'number' }, ([list = []]) => {
    const first = matrix[0]?.[0]
    if (list[0] !== first)
      return brokenRule(`The spiral starts at ${first}, but the answer starts with ${list[0]}.`, { item: 1 })
    return check(list)
  })
}

/** A board of the question's size, in JSON. */
export const gameOfLife: Explainer = (question) => {
  const start = question.lastIndexOf('[[')
  const board = JSON.parse(question.slice(start, question.indexOf(']]', start) + 2)) as unknown
  if (!Array.isArray(board) || !Array.isArray(board[0])) throw new QuestionError('no board in the question')
  const [rows, columns] = [board.length, board[0].length]
  return jsonAnswer('a JSON array of rows', (value) =>
    Array.isArray(value) ? checkBoard(value, rows, columns) : 'other',
  )
}

function checkBoard(value: readonly unknown[], rows: number, columns: number): Violation | 'other' | undefined {
  if (value.length !== rows)
    return formatFault(`The board must have ${count(rows, 'row')}, but it has ${value.length}.`)
  for (const [i, row] of value.entries()) {
    if (!Array.isArray(row)) return 'other'
    if (row.length !== columns)
      return formatFault(`Row ${i + 1} has ${count(row.length, 'cell')}, but it needs ${columns}.`, { row: i + 1 })
    const k = row.findIndex((cell) => cell !== 0 && cell !== 1)
    if (k >= 0) return formatFault(`Row ${i + 1}, column ${k + 1} must be 0 or 1.`, { row: i + 1, column: k + 1 })
  }
  return undefined
}
