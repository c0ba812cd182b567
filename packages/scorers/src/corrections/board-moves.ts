/** Corrections of tasks that move pieces on a board: only moves that are possible count, and longer ways are as right. */
import { z } from 'zod'
import {
  createPegs,
  DISK_MOVE_PATTERN,
  EXIT_CELL,
  listCells,
  moveDisk,
  movePlayer,
  type Piece,
  parsePieces,
  slidePiece,
} from '../moves.ts'
import { loads } from '../python/json.ts'
import { catchPythonError } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import type { PyValue } from '../python/values.ts'
import type { Correction } from './correction.ts'

const CarBoard = z.looseObject({ board_config: z.string() })

const SEPARATOR_PATTERN = /[^A-Za-z0-9+-]+/
const CAR_MOVE_PATTERN = /^([A-Z])([+-]\d{1,9})$/

export const rushHour: Correction = {
  reason: 'Moves that are not possible are cut short instead of refused: cars that are pushed blindly get out.',
  decide({ entry }) {
    const { board_config: board } = CarBoard.parse(entry.metadata)
    return (answer) => {
      const pieces = parsePieces(board)
      const taken = new Set(pieces.flatMap(listCells))
      const words = answer.split(SEPARATOR_PATTERN).filter((word) => word !== '')
      return words.every((word) => moveCar(pieces, taken, word)) && pieces[0]?.position === EXIT_CELL
    }
  },
}

/** False where the word is no move or the move is not possible. */
function moveCar(pieces: readonly Piece[], taken: Set<number>, word: string): boolean {
  const [, letter = '', count = ''] = CAR_MOVE_PATTERN.exec(word) ?? []
  const car = pieces[letter.charCodeAt(0) - 65]
  return car !== undefined && car.length > 1 && slidePiece(car, Number(count), taken) === Math.abs(Number(count))
}

const BoxBoard = z.looseObject({ gamestr: z.string() })

const SIGNS_PATTERN = /[^A-Za-z0-9]+/g
const STEPS_PATTERN = /^[LRUD]*$/

export const sokoban: Correction = {
  reason: 'Steps against walls and signs that are no steps are passed over; some puzzles are solved at the start.',
  decide({ entry }) {
    const { gamestr } = BoxBoard.parse(entry.metadata)
    const rows = strip(gamestr.replaceAll(' ', '')).split('\n')
    const width = rows[0]?.length ?? 0
    const steps = new Map(Object.entries({ R: 1, L: -1, U: -width, D: width }))
    return (answer) => {
      const names = answer.replaceAll(SIGNS_PATTERN, '')
      if (!STEPS_PATTERN.test(names)) return false
      const cells = rows.flatMap((row) => Array.from(row))
      let player = cells.findIndex((cell) => cell === '*' || cell === '%')
      for (const name of names) {
        const step = steps.get(name) ?? 0
        if (!movePlayer(cells, player, step)) return false
        player += step
      }
      return !cells.includes('@')
    }
  },
  hasRightAnswer: ({ metadata }) => BoxBoard.parse(metadata).gamestr.includes('@'),
}

const Tower = z.looseObject({
  num_disks: z.int(),
  num_pegs: z.int(),
  start_peg: z.int(),
  target_peg: z.int(),
})

export const towerOfHanoi: Correction = {
  reason: 'A way that is longer than the shortest loses points, though the question does not ask for the shortest.',
  decide({ entry }) {
    const { num_disks: disks, num_pegs: count, start_peg: start, target_peg: target } = Tower.parse(entry.metadata)
    return (answer) => {
      const pegs = createPegs(count, disks, start)
      const lines = answer.split('\n').map((line) => strip(line))
      return lines.every((line) => line === '' || isPossible(pegs, line)) && pegs[target]?.length === disks
    }
  },
}

/** False where the line is no move or the move is not legal. */
function isPossible(pegs: readonly number[][], line: string): boolean {
  const [disk = 0, from = 0, to = 0] = DISK_MOVE_PATTERN.exec(line)?.slice(1).map(Number) ?? []
  return from !== to && moveDisk(pegs, disk, from, to) === undefined
}

const KnightBoard = z.looseObject({
  pieces: z.record(z.string(), z.string().nullable()),
  start_turn: z.enum(['w', 'B']),
  is_possible: z.boolean(),
})
type KnightBoard = z.infer<typeof KnightBoard>

/** The question writes it in quotes. */
const NO_PATTERN = /^"?no"?$/i
const KNIGHT_MOVE_PATTERN = /^([wB]),([A-D][1-3]),([A-D][1-3])$/

export const knightSwap: Correction = {
  reason: '“No” is the key where a move is left out that the question allows; ways that are longer lose points.',
  decide({ entry }) {
    const puzzle = KnightBoard.parse(entry.metadata)
    let hasWay: boolean | undefined
    return (answer) => {
      if (NO_PATTERN.test(answer)) {
        hasWay ??= puzzle.is_possible || searchWay(puzzle)
        return !hasWay
      }
      const moves = catchPythonError(() => loads(answer), null)
      return Array.isArray(moves) && isWay(puzzle, moves)
    }
  },
}

function isJump(from: string, to: string): boolean {
  const [across, along] = [0, 1].map((at) => Math.abs(from.charCodeAt(at) - to.charCodeAt(at)))
  return across !== undefined && along !== undefined && across * along === 2
}

function isWay({ pieces, start_turn: first }: KnightBoard, moves: readonly PyValue[]): boolean {
  const after = new Map(Object.entries(pieces))
  let turn = first
  for (const move of moves) {
    const [, color = '', from = '', to = ''] = KNIGHT_MOVE_PATTERN.exec(typeof move === 'string' ? move : '') ?? []
    if (color !== turn || after.get(from) !== color || after.get(to) !== null || !isJump(from, to)) return false
    after.set(from, null).set(to, color)
    turn = turn === 'w' ? 'B' : 'w'
  }
  return [...after].every(([square, piece]) => piece === swapColor(pieces[square] ?? null))
}

function swapColor(piece: string | null): string | null {
  return piece === 'w' ? 'B' : piece === 'B' ? 'w' : null
}

const BITS = 12 // as many squares as a board has

/** Searches all places of the knights, a bit for each square: some thousands, and 69,300 at most. */
function searchWay({ pieces, start_turn: first }: KnightBoard): boolean {
  const squares = Object.keys(pieces)
  const maskOf = (test: (square: string) => boolean) =>
    squares.reduce((mask, square, k) => (test(square) ? mask | (1 << k) : mask), 0)
  const jumps = squares.map((from) => maskOf((to) => isJump(from, to)))
  const [mine, others] = [first, swapColor(first)].map((color) => maskOf((square) => pieces[square] === color))
  if (mine === undefined || others === undefined) return false
  // The side that moves comes first, and the last bit says which one that is.
  const encode = (mover: number, waiting: number, turn: number) => (((mover << BITS) | waiting) << 1) | turn
  const goals = [encode(others, mine, 0), encode(mine, others, 1)]
  const states = [encode(mine, others, 0)]
  const seen = new Set(states)
  for (const state of states) {
    if (goals.includes(state)) return true
    const [mover, waiting] = [state >> (BITS + 1), (state >> 1) & ((1 << BITS) - 1)]
    for (const [k, targets] of jumps.entries()) {
      if (((mover >> k) & 1) === 0) continue
      for (let free = targets & ~(mover | waiting); free !== 0; free &= free - 1) {
        const next = encode(waiting, (mover ^ (1 << k)) | (free & -free), 1 - (state & 1))
        if (!seen.has(next)) {
          seen.add(next)
          states.push(next)
        }
      }
    }
  }
  return false
}
