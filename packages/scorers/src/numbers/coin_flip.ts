/** Within 1e-4 of the probability, else the share of leading characters that are right. Rule of `reasoning_gym/probability/coin_flip.py`. */
import { z } from 'zod'
import { formatGeneral } from '../python/format.ts'
import { parseFraction } from '../python/fraction.ts'
import { PyValueError, ratioToFloat } from '../python/numbers.ts'
import { defineScorer, InvalidAnswerError, requireOracleAnswer } from '../scorer.ts'

const TOLERANCE = 1e-4
const SIGNIFICANT_DIGITS = 10

export const coinFlip = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    try {
      const [given, wanted] = [parseProbability(answer), parseProbability(requireOracleAnswer(entry))]
      return Math.abs(given - wanted) <= TOLERANCE ? 1 : getCommonPrefixShare(given, wanted)
    } catch (error) {
      if (error instanceof PyValueError) return 0
      throw error
    }
  },
})

function parseProbability(text: string): number {
  const { numerator, denominator } = parseFraction(text.replaceAll(',', ''))
  const value = ratioToFloat(numerator, denominator)
  if (!Number.isFinite(value)) throw new InvalidAnswerError('too large for a float')
  return value
}

function getCommonPrefixShare(given: number, wanted: number): number {
  const [a, b] = [formatGeneral(given, SIGNIFICANT_DIGITS), formatGeneral(wanted, SIGNIFICANT_DIGITS)]
  const shorter = Math.min(a.length, b.length)
  let equal = 0
  while (equal < shorter && a[equal] === b[equal]) equal++
  return equal / shorter
}
