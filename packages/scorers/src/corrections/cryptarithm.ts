/** cryptarithm: an answer gives each letter one digit. */
import type { Correction } from './correction.ts'

const PAIR_PATTERN = /^\s*([A-Z])\s*=\s*\d\s*$/

export const cryptarithm: Correction = {
  reason: 'Of a letter that comes twice, the last digit counts.',
  decide: () => (answer) => {
    const letters = answer.split(',').map((pair) => PAIR_PATTERN.exec(pair)?.[1])
    return letters.includes(undefined) || new Set(letters).size < letters.length ? false : undefined
  },
}
