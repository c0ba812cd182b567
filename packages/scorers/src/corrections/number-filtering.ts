/** number_filtering: equal numbers that are spelled differently keep their own spelling. */
import { requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

const QUESTION_PATTERN = /^(Keep|Remove) all numbers (larger|smaller) than (\S+) in this list: \[(.*)\]$/m

export const numberFiltering: Correction = {
  reason:
    'Of two equal numbers that are spelled differently, such as 5 and 5.0, the key gives both the first spelling.',
  keys({ entry }) {
    const [, action, side, bound, list] = QUESTION_PATTERN.exec(entry.question) ?? []
    if (list === undefined) return undefined
    const kept = list.split(', ').filter((item) => {
      const value = Number(item.slice(1, -1))
      const isBeyond = side === 'larger' ? value > Number(bound) : value < Number(bound)
      return isBeyond === (action === 'Keep')
    })
    const answer = `[${kept.join(', ')}]`
    return answer === requireOracleAnswer(entry) ? undefined : [answer]
  },
}
