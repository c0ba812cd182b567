/** rush_hour: a car moves only as far as the way is free, and an answer holds nothing but moves. */
import { z } from 'zod'
import { EXIT_CELL, isInLine, listCells, type Piece, parsePieces } from '../moves.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ board_config: z.string() })

const SEPARATOR_PATTERN = /[^A-Za-z0-9+-]+/
const MOVE_PATTERN = /^([A-Z])([+-]\d{1,9})$/

export const rushHour: Correction = {
  reason: 'Moves that are not possible are cut short instead of refused: cars that are pushed blindly get out.',
  decide({ entry }) {
    const { board_config: board } = Metadata.parse(entry.metadata)
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
  const [found, letter = '', count = ''] = MOVE_PATTERN.exec(word) ?? []
  const car = pieces[letter.charCodeAt(0) - 65]
  if (found === undefined || car === undefined || car.length === 1) return false
  const step = car.stride * Math.sign(Number(count))
  for (let left = Math.abs(Number(count)); left > 0; left--) {
    const [back = 0, front = 0] = step > 0 ? listEnds(car) : listEnds(car).toReversed()
    if (!isInLine(front, front + step, car.stride) || taken.has(front + step)) return false
    taken.add(front + step)
    taken.delete(back)
    car.position += step
  }
  return true
}

function listEnds({ position, length, stride }: Piece): number[] {
  return [position, position + (length - 1) * stride]
}
