/** Both parts of the simplified fraction, or 0.1 for one part of the given one. Rule of `reasoning_gym/arithmetic/fraction_simplification.py`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { PY_D, PY_S, strip } from '../python/text.ts'
import { defineScorer } from '../scorer.ts'
import { TypedInteger } from './typed-schemas.ts'

const BRACED_NUMBER = `${PY_S}*\\{${PY_S}*(${PY_D}+)${PY_S}*\\}`
const LATEX_FRACTION_PATTERN = new RegExp(`^\\\\d?frac${BRACED_NUMBER}${BRACED_NUMBER}`, 'iv')

export const fractionSimplification = defineScorer({
  metadata: z.looseObject({
    numerator: TypedInteger,
    denominator: TypedInteger,
    simplified_numerator: TypedInteger,
    simplified_denominator: TypedInteger,
  }),
  score(answer, { metadata }) {
    const found = parseFractionParts(answer)
    if (found === undefined) return 0.01
    const [numerator, denominator] = found
    if (numerator === metadata.simplified_numerator && denominator === metadata.simplified_denominator) return 1
    return numerator === metadata.numerator || denominator === metadata.denominator ? 0.1 : 0.05
  },
})

function parseFractionParts(answer: string): [bigint, bigint] | undefined {
  const bare = strip(strip(strip(answer), '$'))
  const [, top, bottom] = LATEX_FRACTION_PATTERN.exec(bare) ?? bare.match(/^([^/]*)\/(.*)$/s) ?? []
  if (top === undefined || bottom === undefined) return undefined
  try {
    return [parseInteger(strip(top)), parseInteger(strip(bottom))]
  } catch (error) {
    if (error instanceof PyValueError) return undefined
    throw error
  }
}
