/** jugs: an answer is a list of whole moves; whether they reach the target is the library’s to decide. */
import { loads } from '../python/json.ts'
import { catchPythonError } from '../python/numbers.ts'
import type { Correction } from './correction.ts'

const MOVE_PATTERN = /^(?:fill [A-Z]|empty [A-Z]|pour ([A-Z])->(?!\1)[A-Z])$/

export const jugs: Correction = {
  reason: 'Words after a move are passed over, an object is read as a list, and a jug can be poured into itself.',
  decide: () => (answer) => {
    const moves = catchPythonError(() => loads(answer), null)
    const isPlan = Array.isArray(moves) && moves.every((move) => typeof move === 'string' && MOVE_PATTERN.test(move))
    return isPlan ? undefined : false
  },
}
