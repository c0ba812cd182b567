/** Puzzles on a square grid: sudoku, mini sudoku, futoshiki, kakurasu, survo and n queens. */
import { rstrip, strip } from '../python/text.ts'
import { DIGITS, gridAnswer, readGrid } from './forms.ts'
import {
  brokenRule,
  count,
  createMultisetCheck,
  type Explainer,
  formatFault,
  quote,
  readPart,
  textAfter,
  type Violation,
} from './violation.ts'

type Grid = readonly (readonly string[])[]
/** A row of cells, or a text of one code unit for each. */
type Row = readonly string[] | string

/** A line of cells of a grid, with the place of each. */
interface Line {
  name: string
  cells: readonly { row: number; column: number }[]
}

export const sudoku: Explainer = (question) => {
  const puzzle = readGrid(question, /^[_1-9]$/)
  const size = puzzle.length
  const lines = [...listRows(size), ...listColumns(size), ...listBlocks(size)]
  return gridAnswer(
    { rows: size, columns: size, cell: new RegExp(`^[1-${size}]$`), noun: 'number' },
    (grid) => findChangedGiven(grid, puzzle, '_') ?? findRepeated(grid, lines),
  )
}

function listRows(size: number): Line[] {
  return listIndices(size).map((row) => ({
    name: `Row ${row + 1}`,
    cells: listIndices(size).map((column) => ({ row, column })),
  }))
}

function listColumns(size: number): Line[] {
  return listIndices(size).map((column) => ({
    name: `Column ${column + 1}`,
    cells: listIndices(size).map((row) => ({ row, column })),
  }))
}

function listBlocks(size: number): Line[] {
  const side = Math.round(Math.sqrt(size))
  return listIndices(size).map((block) => {
    const [top, left] = [Math.floor(block / side) * side, (block % side) * side]
    return {
      name: `The block of rows ${top + 1} to ${top + side} and columns ${left + 1} to ${left + side}`,
      cells: listIndices(size).map((k) => ({ row: top + Math.floor(k / side), column: left + (k % side) })),
    }
  })
}

function listIndices(size: number): number[] {
  return Array.from({ length: size }, (_, i) => i)
}

/** A cell of the question, other than its blanks, that the answer does not repeat. */
function findChangedGiven(grid: readonly Row[], puzzle: readonly Row[], blank: string): Violation | undefined {
  for (const [row, cells] of puzzle.entries()) {
    for (let column = 0; column < cells.length; column++) {
      if (cells[column] === blank || cells[column] === grid[row]?.[column]) continue
      return brokenRule(
        `Row ${row + 1}, column ${column + 1} is given as ${cells[column]}, but the answer has ${grid[row]?.[column]}.`,
        { row: row + 1, column: column + 1 },
      )
    }
  }
  return undefined
}

function findRepeated(grid: Grid, lines: readonly Line[]): Violation | undefined {
  for (const { name, cells } of lines) {
    const seen = new Set<string>()
    for (const { row, column } of cells) {
      const value = grid[row]?.[column] ?? ''
      if (seen.has(value))
        return brokenRule(`${name} has ${value} more than once.`, { row: row + 1, column: column + 1 })
      seen.add(value)
    }
  }
  return undefined
}

export const futoshiki: Explainer = (question) => {
  const size = Number(readPart(question, /the following (\d)x\d Futoshiki/))
  const layout = textAfter(question, 'Futoshiki puzzle:\n\n')
    .split('\n', 2 * size - 1)
    .map((line) => rstrip(line))
  const puzzle = layout.filter((_, i) => i % 2 === 0).map((line) => line.match(/[_\d]/g) ?? [])
  const lines = [...listRows(size), ...listColumns(size)]
  const isBlank = (line: string | undefined) => line === undefined || line === ''
  return (answer) => {
    const given = strip(answer)
      .split('\n')
      .map((line) => rstrip(line))
    for (const [i, line] of layout.entries()) {
      const same = line.replaceAll(/[_\d]/g, '#') === (given[i] ?? '').replaceAll(/[_\d]/g, '#')
      if (!same && !(isBlank(line) && isBlank(given[i])))
        return formatFault(
          `Line ${i + 1} must look like line ${i + 1} of the puzzle with its blanks replaced, but it is ${quote(given[i] ?? '')}.`,
        )
    }
    if (given.length > layout.length) return formatFault(`The grid must have ${layout.length} lines.`)
    const grid = given.filter((_, i) => i % 2 === 0).map((line) => line.match(/[_\d]/g) ?? [])
    return (
      findStrangeNumber(grid, size) ??
      findChangedGiven(grid, puzzle, '_') ??
      findRepeated(grid, lines) ??
      findBrokenInequality(grid, layout)
    )
  }
}

function findStrangeNumber(grid: Grid, size: number): Violation | undefined {
  for (const [row, cells] of grid.entries()) {
    const column = cells.findIndex((text) => !(Number(text) >= 1 && Number(text) <= size))
    if (column >= 0)
      return formatFault(
        `Row ${row + 1}, column ${column + 1} must be a number from 1 to ${size}, but it is ${quote(cells[column] ?? '')}.`,
        { row: row + 1, column: column + 1 },
      )
  }
  return undefined
}

/** Cells are four characters apart; signs stand between them, and on the lines between rows below them. */
function findBrokenInequality(grid: Grid, layout: readonly string[]): Violation | undefined {
  for (const [i, line] of layout.entries()) {
    for (const { 0: sign, index } of line.matchAll(/[<>∧∨]/g)) {
      const [row, column] = [Math.floor(i / 2), Math.floor(index / 4)]
      const isAcross = sign === '<' || sign === '>'
      const [first, second] = [grid[row]?.[column], isAcross ? grid[row]?.[column + 1] : grid[row + 1]?.[column]]
      const isLess = sign === '<' || sign === '∧'
      if (isLess ? Number(first) < Number(second) : Number(first) > Number(second)) continue
      const neighbor = isAcross ? 'the cell to its right' : 'the cell below it'
      return brokenRule(
        `Row ${row + 1}, column ${column + 1} must be ${isLess ? 'less' : 'greater'} than ${neighbor}, but ${first} is not ${isLess ? 'less' : 'greater'} than ${second}.`,
        { row: row + 1, column: column + 1 },
      )
    }
  }
  return undefined
}

export const kakurasu: Explainer = (question) => {
  const readSums = (which: string) =>
    readPart(question, new RegExp(`${which} (?:sums|constraints)[^[]{0,40}\\[([\\d, ]*)\\]`, 'i'))
      .split(',')
      .map(Number)
  const [rowSums, columnSums] = [readSums('row'), readSums('column')]
  const form = { rows: rowSums.length, columns: columnSums.length, cell: /^[01]$/, noun: 'cell' }
  return gridAnswer(form, (grid) => {
    const weigh = (cells: readonly string[]) => cells.reduce((sum, cell, k) => sum + Number(cell) * (k + 1), 0)
    const columns = columnSums.map((_, column) => grid.map((row) => row[column] ?? ''))
    return findWrongSum('Row', grid.map(weigh), rowSums) ?? findWrongSum('Column', columns.map(weigh), columnSums)
  })
}

function findWrongSum(
  name: 'Row' | 'Column',
  sums: readonly number[],
  wanted: readonly number[],
): Violation | undefined {
  const at = sums.findIndex((sum, k) => sum !== wanted[k])
  const where = name === 'Row' ? { row: at + 1 } : { column: at + 1 }
  return at < 0
    ? undefined
    : brokenRule(`${name} ${at + 1} sums to ${sums[at]}, but it must sum to ${wanted[at]}.`, where)
}

export const survo: Explainer = (question) => {
  const puzzle = readGrid(question, DIGITS)
  const numbers = readPart(question, /(?:numbers|set) \[([\d, ]+)\]/).split(', ')
  const checkNumbers = createMultisetCheck(numbers, 'number', 'the list of numbers')
  const size = puzzle.length
  return gridAnswer({ rows: size, columns: size, cell: DIGITS, noun: 'number' }, (grid) => {
    const filled = puzzle.flatMap((row, i) => row.flatMap((cell, k) => (cell === '0' ? [grid[i]?.[k] ?? ''] : [])))
    const columns = puzzle.map((_, k) => grid.map((row) => row[k] ?? ''))
    const used = checkNumbers(filled)
    return (
      findChangedGiven(grid, puzzle, '0') ??
      (used && brokenRule(used.text)) ??
      findWrongTotal('Row', grid) ??
      findWrongTotal('Column', columns)
    )
  })
}

/** The last number of each line is the sum of the others. */
function findWrongTotal(name: 'Row' | 'Column', lines: Grid): Violation | undefined {
  const sums = lines.map((line) => line.slice(0, -1).reduce((sum, cell) => sum + Number(cell), 0))
  return findWrongSum(
    name,
    sums,
    lines.map((line) => Number(line.at(-1))),
  )
}

export const nQueens: Explainer = (question) => {
  const board = readGrid(question, /^[_Q]$/)
  const size = board.length
  return gridAnswer({ rows: size, columns: size, cell: /^[_Q]$/, noun: 'cell' }, (grid) => {
    const queens = grid.flatMap((row, i) => row.flatMap((cell, k) => (cell === 'Q' ? [{ row: i, column: k }] : [])))
    return findMovedQueen(grid, board) ?? findAttack(queens) ?? checkQueenCount(queens.length, size)
  })
}

function findMovedQueen(grid: Grid, board: Grid): Violation | undefined {
  for (const [row, cells] of board.entries()) {
    const column = cells.findIndex((cell, k) => cell === 'Q' && grid[row]?.[k] !== 'Q')
    if (column >= 0)
      return brokenRule(`The queen of the question in row ${row + 1}, column ${column + 1} is missing.`, {
        row: row + 1,
        column: column + 1,
      })
  }
  return undefined
}

/** The first queen, in reading order, that an earlier one attacks. Each row, column and diagonal remembers its first queen. */
function findAttack(queens: readonly { row: number; column: number }[]): Violation | undefined {
  const taken = new Map<string, { row: number; column: number }>()
  for (const queen of queens) {
    const { row, column } = queen
    for (const line of [`r${row}`, `c${column}`, `d${row - column}`, `a${row + column}`]) {
      const other = taken.get(line)
      if (other)
        return brokenRule(
          `The queens in row ${other.row + 1}, column ${other.column + 1} and in row ${row + 1}, column ${column + 1} attack each other.`,
          { row: row + 1, column: column + 1 },
        )
      taken.set(line, queen)
    }
  }
  return undefined
}

function checkQueenCount(queens: number, size: number): Violation | undefined {
  return queens === size ? undefined : brokenRule(`The board needs ${count(size, 'queen')}, but it has ${queens}.`)
}

export const moduloGrid: Explainer = (question) => {
  const puzzle = readPart(question, /((?:^[✅❌❔]+(?:\n|$))+)/mu)
    .trimEnd()
    .split('\n')
  const columns = puzzle[0]?.length ?? 0 // the signs are one code unit each
  return (answer) => {
    const lines = strip(answer).split('\n')
    if (lines.length !== puzzle.length)
      return formatFault(`The grid must have ${count(puzzle.length, 'row')}, but it has ${lines.length}.`)
    const row = lines.findIndex((line) => line.length !== columns || /[^✅❌]/u.test(line))
    if (row >= 0)
      return formatFault(`Row ${row + 1} must have ${columns} signs ✅ or ❌ and nothing else.`, { row: row + 1 })
    return findChangedGiven(lines, puzzle, '❔')
  }
}
