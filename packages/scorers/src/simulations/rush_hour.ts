/** Moves the cars; 0.01 where the red one is not at the exit. Rule of `reasoning_gym/games/rush_hour.py`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { PY_D } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'

const BOARD_SIZE = 6
const EXIT_CELL = 2 * BOARD_SIZE + BOARD_SIZE - 2
const MOVE_PATTERN = new RegExp(`([A-Z])([+\\-])(${PY_D}+)`, 'gv')

interface Piece {
  position: number
  readonly length: number
  readonly stride: number
}

export const rushHour = defineScorer({
  metadata: z.looseObject({ board_config: z.string().length(BOARD_SIZE * BOARD_SIZE) }),
  score(answer, { metadata }) {
    const moves = parseMoves(answer)
    if (answer === '' || moves === undefined) return 0
    const pieces = parsePieces(metadata.board_config)
    const taken = new Set(pieces.flatMap(listCells))
    for (const [letter, steps] of moves) {
      const index = letter.charCodeAt(0) - 65
      // The library looks one piece too far: the letter just behind the last one is an error, any later one is nothing.
      if (index === pieces.length) return 0
      const piece = pieces[index]
      if (piece !== undefined) slidePiece(piece, steps, taken)
    }
    return pieces[0]?.position === EXIT_CELL ? 1 : 0.01
  },
})

/** Cars in the order of their letters, then walls, as pieces of length 1. */
function parsePieces(board: string): Piece[] {
  const labels = [...new Set(board)].filter((label) => label !== 'o' && label !== 'x').toSorted()
  const cars = labels.map((label): Piece => {
    const cells = [...board.matchAll(RegExp(label, 'g'))].map(({ index }) => index)
    const [first = 0, second = 0] = cells
    return { position: first, length: cells.length, stride: second - first }
  })
  const walls = [...board.matchAll(/x/g)].map(({ index }): Piece => ({ position: index, length: 1, stride: 1 }))
  return [...cars, ...walls]
}

function listCells({ position, length, stride }: Piece): number[] {
  return Array.from({ length }, (_, i) => position + i * stride)
}

/** Undefined where a count has more digits than Python reads. */
function parseMoves(answer: string): [string, number][] | undefined {
  try {
    return Array.from(answer.matchAll(MOVE_PATTERN), ([, letter = '', sign, count = '']): [string, number] => {
      const steps = Number(parseInteger(count))
      return [letter, sign === '+' ? steps : -steps]
    })
  } catch (error) {
    if (error instanceof PyValueError) return undefined
    throw error
  }
}

/** Goes until something is in the way, so a huge count costs no more than five steps. */
function slidePiece(piece: Piece, steps: number, taken: Set<number>): void {
  if (piece.length === 1) return
  const forward = steps > 0
  for (let left = Math.abs(steps); left > 0; left--) {
    const front = piece.position + (forward ? (piece.length - 1) * piece.stride : 0)
    const next = front + (forward ? piece.stride : -piece.stride)
    const inside =
      piece.stride === 1
        ? Math.floor(next / BOARD_SIZE) === Math.floor(front / BOARD_SIZE)
        : next >= 0 && next < BOARD_SIZE * BOARD_SIZE
    if (!inside || taken.has(next)) return
    taken.add(next)
    taken.delete(forward ? piece.position : piece.position + (piece.length - 1) * piece.stride)
    piece.position += forward ? piece.stride : -piece.stride
  }
}
