/** kakurasu: an answer holds nothing but cells, one digit each. */
import type { Correction } from './correction.ts'

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
