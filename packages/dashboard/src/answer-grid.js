/** Reads the answers of tasks that ask for a grid, and marks the cells that differ from the expected grid or break a rule. */

const DIGITS_AND_BLANKS = /[1-9_.]/g
const TOKENS = /[^\s,;|[\]()]+/g

/**
 * How a task writes its cells. `cells`: what a cell is within a line; `blank`: an empty cell of the puzzle, where the
 * question shows the puzzle; `anyValid`: more than one grid can be right, so a different grid is not a wrong one.
 * `palette`: the digits stand for colors.
 */
const GRID_TASKS = {
  __proto__: null,
  sudoku: { cells: DIGITS_AND_BLANKS, blank: /[_.0]/, box: 3 },
  mini_sudoku: { cells: DIGITS_AND_BLANKS, blank: /[_.0]/, box: 2 },
  futoshiki: { cells: DIGITS_AND_BLANKS, blank: /[_.0]/ },
  survo: { cells: TOKENS, blank: /^0$/ },
  n_queens: { cells: /[Q_]/g, blank: /_/, anyValid: true, queens: true },
  kakurasu: { cells: /[01]/g, anyValid: true },
  arc_1d: { cells: TOKENS, palette: true },
  arc_agi: { cells: TOKENS, palette: true },
  rearc: { cells: TOKENS, palette: true },
  game_of_life: { cells: TOKENS, binary: true },
  rotate_matrix: { cells: TOKENS },
  manipulate_matrix: { cells: TOKENS },
  pool_matrix: { cells: TOKENS },
  binary_matrix: { cells: TOKENS },
}

/** Whether a grid that differs from the expected one can be right as well. */
export function acceptsOtherGrids(task) {
  return GRID_TASKS[task]?.anyValid === true
}

/** The rows of a grid as lists of cells, or null if the text has none. Lines without a cell are left out. */
function parseGrid(task, text) {
  const rule = GRID_TASKS[task]
  if (!rule) return null
  const rows = splitRows(text)
    .map((line) => line.match(rule.cells) ?? [])
    .filter((cells) => cells.length > 0)
  return rows.length > 0 ? rows : null
}

/** A grid in one line of brackets, such as `[[0,1],[1,0]]`, has a row in each inner pair. */
function splitRows(text) {
  if (!/\]\s*,\s*\[/.test(text)) return text.split('\n')
  return text.split(/\]\s*,\s*\[/)
}

/** The puzzle in the question: the last grid with as many rows and columns as the answer, or null. */
function findPuzzle(task, question, { height, width }) {
  const rule = GRID_TASKS[task]
  if (!rule?.blank) return null
  const rows = question.split('\n').map((line) => (/[a-z]{2}/i.test(line) ? [] : (line.match(rule.cells) ?? [])))
  /** @type {string[][]} */
  let block = []
  /** @type {string[][] | null} */
  let found = null
  for (const cells of rows) {
    if (cells.length === width) block.push(cells)
    else if (cells.length > 0) block = []
    if (block.length === height) {
      found = block
      block = []
    }
  }
  return found
}

/**
 * `{ rows, wrong, total, note, palette }`. A cell is `{ value, state, expected?, given }` with the state `same`, `wrong`,
 * `missing` (only the expected grid has it), `extra` (only the answer has it) or `plain` (there is nothing to compare
 * with). `given`: the puzzle shows it. `isRight`: the answer was accepted, so no cell is marked.
 */
export function compareGrids(task, { answer, expected, question = '', isRight = false }) {
  const rule = GRID_TASKS[task]
  const grid = parseGrid(task, answer)
  if (!rule || !grid) return null
  const right = expected ? parseGrid(task, expected) : null
  const shape = sizeOf(right ?? grid)
  const puzzle = findPuzzle(task, question, shape)
  const isCompared = right !== null && !isRight && !rule.anyValid
  const height = isCompared ? Math.max(grid.length, right.length) : grid.length
  const rows = Array.from({ length: height }, (_, y) => {
    const own = grid[y] ?? []
    const theirs = isCompared ? (right[y] ?? []) : []
    const width = Math.max(own.length, theirs.length)
    return Array.from({ length: width }, (_, x) => {
      const given = isGiven(puzzle?.[y]?.[x], rule)
      const cell = { value: own[x] ?? '', given, state: 'plain' }
      const shown = puzzle?.[y]?.[x]
      if (given && shown !== own[x]) return { ...cell, state: 'wrong', expected: shown }
      return isCompared ? { ...cell, ...compareCell(own[x], theirs[x]) } : cell
    })
  })
  if (rule.queens && !isRight) markAttacks(rows)
  const cells = rows.flat()
  return {
    rows,
    wrong: cells.filter(({ state }) => state !== 'same' && state !== 'plain').length,
    total: cells.length,
    note: isCompared ? describeShape(grid, right) : null,
    palette: rule.palette === true,
    binary: rule.binary === true,
    box: rule.box,
  }
}

function compareCell(own, theirs) {
  if (own === undefined) return { state: 'missing', expected: theirs }
  if (theirs === undefined) return { state: 'extra' }
  return own === theirs ? { state: 'same' } : { state: 'wrong', expected: theirs }
}

function isGiven(cell, { blank }) {
  return cell !== undefined && blank !== undefined && !blank.test(cell)
}

function sizeOf(grid) {
  return { height: grid.length, width: grid[0].length }
}

function describeShape(grid, right) {
  const [own, theirs] = [sizeOf(grid), sizeOf(right)]
  const uneven = grid.findIndex((row) => row.length !== own.width)
  if (uneven !== -1) return `Row ${uneven + 1} has ${grid[uneven].length} cells, row 1 has ${own.width}`
  if (own.height === theirs.height && own.width === theirs.width) return null
  return `The answer has ${own.height} × ${own.width} cells, expected are ${theirs.height} × ${theirs.width}`
}

/** Marks queens that attack each other. */
function markAttacks(rows) {
  const queens = rows.flatMap((row, y) => row.flatMap((cell, x) => (cell.value === 'Q' ? [{ cell, x, y }] : [])))
  for (const a of queens)
    for (const b of queens)
      if (a !== b && (a.x === b.x || a.y === b.y || Math.abs(a.x - b.x) === Math.abs(a.y - b.y))) a.cell.state = 'wrong'
}
