/** 1 for moves that swap the sides, less by the share of moves too many, 0.05 for other legal moves; "No" where none do. Rule of `reasoning_gym/games/knight_swap.py`. */
import { z } from 'zod'
import { catchPythonError } from '../python/errors.ts'
import { loads } from '../python/json.ts'
import { lower, strip } from '../python/text.ts'
import type { PyValue } from '../python/values.ts'
import { defineScorer } from '../scorer.ts'

const Puzzle = z.looseObject({
  board: z.record(z.string(), z.array(z.string())).transform((board) => new Map(Object.entries(board))),
  pieces: z.record(z.string(), z.string().nullable()).transform((pieces) => new Map(Object.entries(pieces))),
  start_turn: z.string(),
  is_possible: z.boolean(),
  solution: z.array(z.unknown()).nullable(),
})
type Puzzle = z.infer<typeof Puzzle>

export const knightSwap = defineScorer({
  metadata: Puzzle,
  score(answer, entry) {
    const given = strip(answer)
    const no = lower(given) === 'no'
    if (!entry.metadata.is_possible) return no ? 1 : 0
    const moves = no ? null : catchPythonError(() => loads(given), null)
    if (!Array.isArray(moves)) return 0
    const pieces = applyMoves(entry.metadata, moves)
    if (pieces === undefined) return 0
    if (!isSwapped(entry.metadata.pieces, pieces)) return 0.05
    const optimal = entry.metadata.solution?.length ?? 0
    return moves.length <= optimal ? 1 : optimal / moves.length
  },
})

/** The pieces after the moves, or undefined where one is not legal. */
function applyMoves(puzzle: Puzzle, moves: readonly PyValue[]): Map<string, string | null> | undefined {
  const pieces = new Map(puzzle.pieces)
  let turn = puzzle.start_turn
  for (const move of moves) {
    const [color = '', start = '', end = '', ...more] = typeof move === 'string' ? move.split(',') : []
    if (more.length > 0 || color !== turn || pieces.get(start) !== color) return undefined
    if (!puzzle.board.get(start)?.includes(end) || (pieces.get(end) ?? null) !== null) return undefined
    pieces.set(end, color).set(start, null)
    turn = turn === 'w' ? 'B' : 'w'
  }
  return pieces
}

function isSwapped(before: ReadonlyMap<string, string | null>, after: ReadonlyMap<string, string | null>): boolean {
  return occupiesSameSquares(before, 'w', after, 'B') && occupiesSameSquares(before, 'B', after, 'w')
}

function occupiesSameSquares(
  before: ReadonlyMap<string, string | null>,
  was: string,
  after: ReadonlyMap<string, string | null>,
  is: string,
): boolean {
  return [...after.keys()].every((square) => (before.get(square) === was) === (after.get(square) === is))
}
