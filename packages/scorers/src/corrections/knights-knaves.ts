/** knights_knaves: an answer that gives someone both roles, or takes back what it says, is none. */
import { z } from 'zod'
import { lower, splitWhitespace } from '../python/text.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ knight_knave_terms: z.looseObject({ knight: z.string(), knave: z.string() }) })

const FILLERS = new Set(['is', 'a', 'an', 'and'])
const DENIAL_PATTERN = /\b(?:not|or|nor|neither|either|never|false|untrue|unless)\b|n['’]t\b/

export const knightsKnaves: Correction = {
  reason:
    'Where an answer gives someone both roles, only the first counts, and a denial before or behind all is passed.',
  decide({ entry }) {
    const { knight, knave } = Metadata.parse(entry.metadata).knight_knave_terms
    const isRole = (word: string | undefined) => word === knight || word === knave
    return (answer) => {
      const text = lower(answer).replaceAll(/[.,()]/g, ' ')
      const words = splitWhitespace(text).filter((word) => !FILLERS.has(word))
      const isTakenBack = DENIAL_PATTERN.test(text) || words.some((word, k) => isRole(word) && isRole(words[k - 1]))
      return isTakenBack ? false : undefined
    }
  },
}
