/** Matrices that are computed from a matrix of the question, and boards of colors: what their shape and contents must be. */
import { strip } from '../python/text.ts'
import { DIGITS, gridAnswer, jsonAnswer, readGrid } from './forms.ts'
import {
  brokenRule,
  count,
  createMultisetCheck,
  type Explainer,
  formatFault,
  QuestionError,
  readPart,
  textAfter,
  type Violation,
} from './violation.ts'

type Grid = readonly (readonly string[])[]

const COLORS = /^\d$/

/** A grid of colors; the size of the output is part of what has to be found. */
export const arcBoard: Explainer = (question) => {
  readGrid(question, COLORS) // another alphabet or another way to write boards is for the library to explain
  return gridAnswer({ cell: COLORS, noun: 'number' })
}

export const arc1d: Explainer = (question) => {
  const [input = []] = readGrid(question, COLORS)
  const examples = [...question.matchAll(/^Input: (.*)\nOutput: (.*)$/gm)]
  const isKept =
    examples.length > 0 && examples.every(([, from = '', to = '']) => strip(from).length === strip(to).length)
  return gridAnswer({ rows: 1, cell: COLORS, noun: 'number' }, ([row = []]) =>
    isKept && row.length !== input.length
      ? brokenRule(
          `In each example the output is as long as the input, but the answer has ${count(row.length, 'number')} for ${input.length}.`,
        )
      : undefined,
  )
}

export const binaryMatrix: Explainer = (question) => {
  const matrix = readGrid(question, DIGITS)
  return sameShape(matrix, /^\d+$/, (grid) => {
    const distances = grid.map((row) => row.map(Number))
    for (const [i, row] of distances.entries())
      for (const [k, distance] of row.entries()) {
        const broken = checkDistance(distance, matrix[i]?.[k] === '0', findNearest(distances, i, k))
        if (broken)
          return brokenRule(`Row ${i + 1}, column ${k + 1} is ${distance}, but ${broken}.`, {
            row: i + 1,
            column: k + 1,
          })
      }
    return undefined
  })
}

/** A distance is 0 at a 0, and elsewhere one more than that of the nearest neighbor. */
function checkDistance(distance: number, isZero: boolean, nearest: number): string | undefined {
  if (isZero) return distance === 0 ? undefined : 'the matrix has a 0 there'
  if (distance === 0) return 'the matrix has no 0 there'
  if (nearest === distance - 1) return undefined
  return nearest < distance
    ? `a neighbor is ${nearest}, and distances of neighbors differ by 1 at most`
    : `no neighbor is ${distance - 1}`
}

/** The smallest distance of a neighbor. */
function findNearest(distances: readonly (readonly number[])[], i: number, k: number): number {
  return Math.min(
    distances[i - 1]?.[k] ?? Infinity,
    distances[i + 1]?.[k] ?? Infinity,
    distances[i]?.[k - 1] ?? Infinity,
    distances[i]?.[k + 1] ?? Infinity,
  )
}

function sameShape(matrix: Grid, cell: RegExp, check: (grid: string[][]) => Violation | undefined) {
  return gridAnswer({ rows: matrix.length, columns: matrix[0]?.length ?? 0, cell, noun: 'number' }, check)
}

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

/** Operations move, drop, map and clear numbers; they make no others. */
export const manipulateMatrix: Explainer = (question) => {
  const [given = '', operations = ''] = textAfter(question, 'For the following matrix:\n').split(
    '\nPerform the following',
  )
  const made = [...operations.matchAll(/Map each occurrence of \d+ to (\d+)/g)].map(([, to = '']) => to)
  const cleared = operations.includes('divisible') ? ['0'] : []
  const known = new Set([...readGrid(given, DIGITS).flat(), ...made, ...cleared])
  return gridAnswer({ cell: DIGITS, noun: 'number' }, (grid) => {
    for (const [i, row] of grid.entries()) {
      const k = row.findIndex((cell) => !known.has(cell))
      if (k >= 0)
        return brokenRule(
          `Row ${i + 1}, column ${k + 1} is ${row[k]}, which is not in the matrix and which no operation makes.`,
          {
            row: i + 1,
            column: k + 1,
          },
        )
    }
    return undefined
  })
}

/** The maximum of a region is one of its numbers, and the average is between them. */
export const poolMatrix: Explainer = (question) => {
  const matrix = readGrid(question, DIGITS).map((row) => row.map(Number))
  const kernel = Number(readPart(question, /kernel size of (\d+)/))
  const kind = readPart(question, /Perform (max|average) pooling/)
  const [height, width] = [matrix.length, matrix[0]?.length ?? 0]
  const form = { rows: Math.ceil(height / kernel), columns: Math.ceil(width / kernel), noun: 'number' }
  const regions = Array.from({ length: form.rows }, (_, i) =>
    Array.from({ length: form.columns }, (__, k) => {
      const region = matrix
        .slice(i * kernel, (i + 1) * kernel)
        .flatMap((line) => line.slice(k * kernel, (k + 1) * kernel))
      return { region, least: Math.min(...region), most: Math.max(...region) }
    }),
  )
  return gridAnswer({ ...form, cell: /^-?\d+(?:\.\d+)?$/ }, (grid) => {
    for (const [i, row] of grid.entries())
      for (const [k, cell] of row.entries()) {
        const { region, least, most } = regions[i]?.[k] ?? { region: [], least: 0, most: 0 }
        const value = Number(cell)
        if (kind === 'max' ? region.includes(value) : value >= least - 0.005 && value <= most + 0.005) continue
        const where = { row: i + 1, column: k + 1 }
        const place = `Row ${i + 1}, column ${k + 1} is ${cell}`
        return kind === 'max'
          ? brokenRule(`${place}, which is not in its region.`, where)
          : brokenRule(`${place}, but all numbers of its region are on one side of that.`, where)
      }
    return undefined
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
