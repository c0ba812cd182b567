/** The same factors, 0.5 for others of the same product, else 0.01; raises on what is no integer. Rule of `reasoning_gym/arithmetic/prime_factorization.py`. */
import { z } from 'zod'
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer, InvalidAnswerError, requireOracleAnswer } from '../scorer.ts'

export const primeFactorization = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const wanted = parseFactors(requireOracleAnswer(entry))
    const given = parseFactors(answer)
    if (sameFactors(wanted, given)) return 1
    return hasProduct(
      given,
      wanted.reduce((product, factor) => product * factor, 1n),
    )
      ? 0.5
      : 0.01
  },
})

function parseFactors(text: string): bigint[] {
  try {
    return text
      .split('×')
      .map((part) => strip(part))
      .filter((part) => part !== '')
      .map((part) => parseInteger(part))
  } catch (error) {
    if (error instanceof PyValueError) throw new InvalidAnswerError('no integer', { cause: error })
    throw error
  }
}

function sameFactors(a: readonly bigint[], b: readonly bigint[]): boolean {
  if (a.length !== b.length) return false
  const sorted = b.toSorted(compareAscending)
  return a.toSorted(compareAscending).every((factor, i) => factor === sorted[i])
}

function compareAscending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Stops when the product exceeds the target: without a zero it never shrinks again. */
function hasProduct(factors: readonly bigint[], wanted: bigint): boolean {
  if (factors.includes(0n)) return wanted === 0n
  const bound = wanted < 0n ? -wanted : wanted
  let product = 1n
  for (const factor of factors) {
    product *= factor
    if (product > bound || -product > bound) return false
  }
  return product === wanted
}
