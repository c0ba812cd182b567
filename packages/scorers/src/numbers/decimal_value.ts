/** Equal as decimals without commas, else the oracle's share. Rule of `compute_decimal_reward` in `reasoning_gym/utils.py`, for chain_sum and products. */
import { z } from 'zod'
import { getSubstringCredit } from '../exact.ts'
import { Decimal, InvalidOperation } from '../python/decimal.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

export const decimalValue = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [bare, oracle] = [answer.replaceAll(',', ''), requireOracleAnswer(entry).replaceAll(',', '')]
    return equalsAsDecimal(bare, oracle) ? 1 : getSubstringCredit(oracle, bare)
  },
})

/** Integers that a double holds, as they are mostly written. */
const PLAIN_INTEGER_PATTERN = /^-?\d{1,15}$/

/** Whether two texts are decimals of equal value. */
export function equalsAsDecimal(a: string, b: string): boolean {
  if (PLAIN_INTEGER_PATTERN.test(a) && PLAIN_INTEGER_PATTERN.test(b)) return Number(a) === Number(b)
  try {
    const one = Decimal.tryParse(a)
    const other = one && Decimal.tryParse(b)
    return one !== undefined && other !== undefined && one.equals(other)
  } catch (error) {
    if (error instanceof InvalidOperation) return false
    throw error
  }
}
