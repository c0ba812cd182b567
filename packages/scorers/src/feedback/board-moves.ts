/** Moves of pieces on a board: rush hour, sokoban, knight swap, the tower of Hanoi and paths through a grid. */
import {
  createPegs,
  DIRECTIONS,
  DISK_MOVE_PATTERN,
  EXIT_CELL,
  listCells,
  moveDisk,
  movePlayer,
  parsePieces,
  slidePiece,
} from '../moves.ts'
import { splitWhitespace, strip } from '../python/text.ts'
import { isTextList, jsonAnswer, readGrid } from './forms.ts'
import {
  brokenRule,
  type Explainer,
  formatFault,
  QuestionError,
  quote,
  readPart,
  readQuestion,
  textAfter,
  type Violation,
} from './violation.ts'

export const towerOfHanoi: Explainer = (question) => {
  const [disks = 0, count = 0] = readQuestion(question, /with (\d+) disks and (\d+) pegs/).map(Number)
  const [start = 0, target = 0] = readQuestion(question, /all disks from Peg (\d+) to Peg (\d+)/).map(Number)
  return (answer) => {
    const pegs = createPegs(count, disks, start)
    const lines = strip(answer)
      .split('\n')
      .map((line) => strip(line))
      .filter((line) => line !== '')
    for (const [i, line] of lines.entries()) {
      const found = DISK_MOVE_PATTERN.exec(line)
      if (!found)
        return formatFault(
          `Each line must be like “Move disk 1 from Peg 1 to Peg 3”, but move ${i + 1} is ${quote(line)}.`,
          { move: i + 1 },
        )
      const [disk = 0, from = 0, to = 0] = found.slice(1).map(Number)
      const broken = moveDisk(pegs, disk, from, to)
      if (broken) return brokenRule(`Move ${i + 1} (${line}) is not possible: ${broken}.`, { move: i + 1 })
    }
    return pegs[target]?.length === disks
      ? brokenRule('The moves are possible and end on the target peg, but there are more of them than needed.')
      : brokenRule(`At the end, not all disks are on peg ${target}.`)
  }
}

const CAR_MOVE = /^([A-Z])([+-])(\d{1,9})$/

export const rushHour: Explainer = (question) => {
  const board = readPart(question, /Board:\n((?:[A-Zx.]{6}\n?){6})/)
    .replaceAll('\n', '')
    .replaceAll('.', 'o')
  const cars = [...new Set(board)].filter((label) => /[A-Z]/.test(label)).toSorted()
  const start = parsePieces(board)
  const filled = start.flatMap(listCells)
  return (answer) => {
    const [pieces, taken] = [start.map((piece) => ({ ...piece })), new Set(filled)]
    for (const [i, word] of splitWhitespace(answer).entries()) {
      const [found, letter = '', sign, steps] = CAR_MOVE.exec(word) ?? []
      if (found === undefined)
        return formatFault(`Each move must be like F+1 or K-2, but move ${i + 1} is ${quote(word)}.`, { move: i + 1 })
      const piece = pieces[cars.indexOf(letter)]
      if (piece === undefined) return brokenRule(`Move ${i + 1} (${word}): there is no car ${letter}.`, { move: i + 1 })
      const free = slidePiece(piece, Number(`${sign}${steps}`), taken)
      if (free < Number(steps))
        return brokenRule(`Move ${i + 1} (${word}): the way is free for ${free} of ${steps} spaces.`, { move: i + 1 })
    }
    return pieces[0]?.position === EXIT_CELL ? undefined : brokenRule('At the end, the red car AA is not at the exit.')
  }
}

export const sokoban: Explainer = (question) => {
  const board = readGrid(question, /^[-+*%@X$]$/)
  const width = board[0]?.length ?? 0
  const steps = new Map(Object.entries({ R: 1, L: -1, U: -width, D: width }))
  return (answer) => {
    const moves = strip(answer)
    const strange = moves.search(/[^LRUD]/)
    if (strange >= 0 || moves === '')
      return formatFault(`The answer must consist of the letters L, R, U and D alone, but it is ${quote(answer)}.`)
    const cells = board.flat()
    let player = cells.findIndex((cell) => cell === '*' || cell === '%')
    for (let i = 0; i < moves.length; i++) {
      const step = steps.get(moves[i] ?? '') ?? 0
      if (!movePlayer(cells, player, step))
        return brokenRule(`Move ${i + 1} (${moves[i]}) is blocked.`, { move: i + 1 })
      player += step
    }
    const box = cells.indexOf('@')
    if (box < 0) return undefined
    const [row, column] = [Math.floor(box / width) + 1, (box % width) + 1]
    return brokenRule(`At the end, the box in row ${row}, column ${column} is not on a goal.`, { row, column })
  }
}

type Pieces = Map<string, string>

export const knightSwap: Explainer = (question) => {
  const start = readKnights(question)
  const first = readPart(question, /\d\. (w|B) moves first/)
  const check = jsonAnswer('“No” or a JSON list of moves such as ["w,A1,B3"]', (value) =>
    isTextList(value) ? checkKnightMoves(value, start, first) : 'other',
  )
  return (answer) => (strip(answer) === 'No' ? undefined : check(answer))
}

/** The squares of the board with their pieces, an empty text where there is none. */
function readKnights(question: string): Pieces {
  const lines = [...question.matchAll(/^(\d+) +\|(.*)\|$/gm)]
  const squares = lines.flatMap(([, rank = '', cells = '']) =>
    cells.split('|').map((cell, k): [string, string] => [`${String.fromCharCode(65 + k)}${rank}`, strip(cell)]),
  )
  if (squares.length === 0) throw new QuestionError('no board in the question')
  return new Map(squares.flatMap(([square, piece]) => (piece === '' ? [] : [[square, piece === '.' ? '' : piece]])))
}

function checkKnightMoves(moves: readonly string[], start: Pieces, first: string): Violation | undefined {
  const pieces = new Map(start)
  let turn = first
  for (const [i, move] of moves.entries()) {
    const [color = '', from = '', to = '', ...more] = move.split(',')
    if (more.length > 0 || !/^[wB]$/.test(color) || !/^[A-Z]\d+$/.test(from) || !/^[A-Z]\d+$/.test(to))
      return formatFault(`Each move must be like "w,A1,B3", but move ${i + 1} is ${quote(move)}.`, { move: i + 1 })
    const broken = moveKnight(pieces, turn, color, from, to)
    if (broken) return brokenRule(`Move ${i + 1} (${move}) is not possible: ${broken}.`, { move: i + 1 })
    turn = turn === 'w' ? 'B' : 'w'
  }
  for (const [square, piece] of start) {
    const wanted = piece === '' ? '' : piece === 'w' ? 'B' : 'w'
    if (pieces.get(square) !== wanted)
      return brokenRule(
        `At the end, the knights are not swapped: ${square} does not have ${wanted === '' ? 'an empty square' : `a knight ${wanted}`}.`,
      )
  }
  return brokenRule('The moves swap the knights, but there are more of them than needed.')
}

function moveKnight(pieces: Pieces, turn: string, color: string, from: string, to: string): string | undefined {
  if (color !== turn) return `it is the turn of ${turn}`
  if (pieces.get(from) !== color) return `there is no knight ${color} on ${from}`
  const occupant = pieces.get(to)
  if (occupant === undefined) return `${to} is not a square of the board`
  const across = Math.abs(from.charCodeAt(0) - to.charCodeAt(0))
  const along = Math.abs(Number(from.slice(1)) - Number(to.slice(1)))
  if (Math.min(across, along) !== 1 || Math.max(across, along) !== 2) return 'a knight does not move like this'
  if (occupant !== '') return `${to} is not empty`
  pieces.set(to, color).set(from, '')
  return undefined
}

export const shortestPath: Explainer = (question) => {
  const grid = readGrid(question, /^[*#OX]$/)
  const start = grid.findIndex((row) => row.includes('*'))
  return (answer) => {
    if (strip(answer) === 'infeasible') return undefined
    let [row, column] = [start, grid[start]?.indexOf('*') ?? 0]
    for (const [i, word] of splitWhitespace(answer).entries()) {
      const direction = DIRECTIONS.get(word)
      if (direction === undefined)
        return formatFault(
          `The answer must be “infeasible” or directions such as “right down”, but word ${i + 1} is ${quote(word)}.`,
          { move: i + 1 },
        )
      row += direction[0]
      column += direction[1]
      const cell = grid[row]?.[column]
      if (cell === undefined || cell === 'X')
        return brokenRule(`Move ${i + 1} (${word}) ${cell === 'X' ? 'enters a blocked cell' : 'leaves the grid'}.`, {
          move: i + 1,
        })
    }
    return grid[row]?.[column] === '#'
      ? brokenRule('The path reaches the destination, but it is not the shortest one.')
      : brokenRule('The path does not end at the destination.')
  }
}

export const pathStar: Explainer = (question) => {
  const [edges = '', start = '', goal = ''] = readQuestion(
    textAfter(question, 'following task:'),
    /((?:\|\d+ \d+)+)\/(\d+) (\d+) = /,
  )
  const known = new Set(edges.split('|'))
  return (answer) => {
    const nodes = splitWhitespace(answer)
    const strange = nodes.findIndex((node) => !/^\d+$/.test(node))
    if (strange >= 0 || nodes.length === 0)
      return formatFault(`The answer must be node labels with spaces between them, but it is ${quote(answer)}.`)
    if (nodes[0] !== start)
      return brokenRule(`The path must start at ${start}, but it starts at ${nodes[0]}.`, { item: 1 })
    const step = nodes.findIndex((node, i) => i > 0 && !known.has(`${nodes[i - 1]} ${node}`))
    if (step > 0) return brokenRule(`There is no edge from ${nodes[step - 1]} to ${nodes[step]}.`, { item: step + 1 })
    return nodes.at(-1) === goal
      ? undefined
      : brokenRule(`The path must end at ${goal}, but it ends at ${nodes.at(-1)}.`)
  }
}
