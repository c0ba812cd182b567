/** Equal as decimals without commas, else the oracle's share. Rule of `compute_decimal_reward` in `reasoning_gym/utils.py`, for chain_sum and products. */
import { z } from 'zod'
import { shareOf } from '../exact/substring.ts'
import { oracleOf } from '../oracle.ts'
import { Decimal, InvalidOperation } from '../python/decimal.ts'
import { defineScorer } from '../scorer.ts'

export const decimalValue = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const [bare, oracle] = [answer.replaceAll(',', ''), oracleOf(entry).replaceAll(',', '')]
    return sameDecimal(bare, oracle) ? 1 : shareOf(oracle, bare)
  },
})

/** Integers that a double holds, as they are mostly written. */
const plainInteger = /^-?\d{1,15}$/

/** Whether two texts are decimals of equal value. */
export function sameDecimal(a: string, b: string): boolean {
  if (plainInteger.test(a) && plainInteger.test(b)) return Number(a) === Number(b)
  try {
    const one = Decimal.read(a)
    const other = one && Decimal.read(b)
    return one !== undefined && other !== undefined && one.equals(other)
  } catch (error) {
    if (error instanceof InvalidOperation) return false
    throw error
  }
}
