/** Corrections that ask for the form of an answer alone: one digit for each letter or cell, or a list of whole moves. */
import { loads } from '../python/json.ts'
import { catchPythonError } from '../python/numbers.ts'
import type { Correction } from './correction.ts'

const PAIR_PATTERN = /^\s*([A-Z])\s*=\s*\d\s*$/

export const cryptarithm: Correction = {
  reason: 'Of a letter that comes twice, the last digit counts.',
  decide: () => (answer) => {
    const letters = answer.split(',').map((pair) => PAIR_PATTERN.exec(pair)?.[1])
    return letters.includes(undefined) || new Set(letters).size < letters.length ? false : undefined
  },
}

const MOVE_PATTERN = /^(?:fill [A-Z]|empty [A-Z]|pour ([A-Z])->(?!\1)[A-Z])$/

export const jugs: Correction = {
  reason: 'Words after a move are passed over, an object is read as a list, and a jug can be poured into itself.',
  decide: () => (answer) => {
    const moves = catchPythonError(() => loads(answer), null)
    const isPlan = Array.isArray(moves) && moves.every((move) => typeof move === 'string' && MOVE_PATTERN.test(move))
    return isPlan ? undefined : false
  },
}

const OTHER_SIGN_PATTERN = /[^01\s,;|[\]]/
const SEPARATOR_PATTERN = /[^01]+/

export const kakurasu: Correction = {
  reason: 'Signs other than 0 and 1 are passed over, so that a cell of −1 counts as 1 and rows may have more cells.',
  decide: () => (answer) => {
    const rows = answer.split('\n').map((line) => line.split(SEPARATOR_PATTERN).filter((cell) => cell !== ''))
    const isGrid = rows.every((cells) => cells.length === 1 || cells.every((cell) => cell.length === 1))
    return isGrid && !OTHER_SIGN_PATTERN.test(answer) ? undefined : false
  },
}
