/** number_format: the number wanted is one of the candidates as they are printed, not one nearby. */
import { z } from 'zod'
import { parsePlainDecimal } from '../hardened/notations.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ formatted_candidates: z.array(z.string()), size: z.enum(['largest', 'smallest']) })

/** How far the printed candidate and the key may be apart: six decimals and the noise of a float. */
const PRINTED_ERROR = 1e-6
const RELATIVE_ERROR = 1e-15

export const numberFormat: Correction = {
  reason: 'Any number less than 0.01 from the right one is paid, and with it other candidates.',
  decide({ entry }) {
    const { formatted_candidates: candidates, size } = Metadata.parse(entry.metadata)
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
