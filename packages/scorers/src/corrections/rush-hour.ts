/** rush_hour: a car moves only as far as the way is free, and an answer holds nothing but moves. */
import { z } from 'zod'
import { EXIT_CELL, listCells, type Piece, parsePieces, slidePiece } from '../moves.ts'
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
  const [, letter = '', count = ''] = MOVE_PATTERN.exec(word) ?? []
  const car = pieces[letter.charCodeAt(0) - 65]
  return car !== undefined && car.length > 1 && slidePiece(car, Number(count), taken) === Math.abs(Number(count))
}
