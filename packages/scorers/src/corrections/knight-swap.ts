/** knight_swap: the moves that the question allows decide whether there is a way, and a longer way is as right. */
import { z } from 'zod'
import { loads } from '../python/json.ts'
import { catchPythonError } from '../python/numbers.ts'
import type { PyValue } from '../python/values.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({
  pieces: z.record(z.string(), z.string().nullable()),
  start_turn: z.enum(['w', 'B']),
  is_possible: z.boolean(),
})
type Puzzle = z.infer<typeof Metadata>

/** The question writes it in quotes. */
const NO_PATTERN = /^"?no"?$/i
const MOVE_PATTERN = /^([wB]),([A-D][1-3]),([A-D][1-3])$/

export const knightSwap: Correction = {
  reason: '“No” is the key where a move is left out that the question allows; ways that are longer lose points.',
  decide({ entry }) {
    const puzzle = Metadata.parse(entry.metadata)
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

function isWay({ pieces, start_turn: first }: Puzzle, moves: readonly PyValue[]): boolean {
  const after = new Map(Object.entries(pieces))
  let turn = first
  for (const move of moves) {
    const [, color = '', from = '', to = ''] = MOVE_PATTERN.exec(typeof move === 'string' ? move : '') ?? []
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
function searchWay({ pieces, start_turn: first }: Puzzle): boolean {
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
