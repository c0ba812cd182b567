/** Corrections of tasks that pick numbers from a list: equal numbers keep their spelling, and one nearby is another. */
import { z } from 'zod'
import { parsePlainDecimal } from '../hardened/notations.ts'
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

const Candidates = z.looseObject({ formatted_candidates: z.array(z.string()), size: z.enum(['largest', 'smallest']) })

/** How far the printed candidate and the key may be apart: six decimals and the noise of a float. */
const PRINTED_ERROR = 1e-6
const RELATIVE_ERROR = 1e-15

export const numberFormat: Correction = {
  reason: 'Any number less than 0.01 from the right one is paid, and with it other candidates.',
  decide({ entry }) {
    const { formatted_candidates: candidates, size } = Candidates.parse(entry.metadata)
    const values = candidates.map(toNumber)
    const wanted = size === 'largest' ? Math.max(...values) : Math.min(...values)
    const tolerance = PRINTED_ERROR + RELATIVE_ERROR * Math.abs(wanted)
    return (answer) => {
      const given = toNumber(answer)
      const distance = Math.abs(given - wanted)
      return distance <= tolerance && values.every((value) => Math.abs(given - value) >= distance)
    }
  },
}

/** NaN for what is no number. */
function toNumber(text: string): number {
  const bare = text.replaceAll(',', '')
  return parsePlainDecimal(bare) === undefined ? Number.NaN : Number(bare)
}
