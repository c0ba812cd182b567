/** fraction_simplification: fractions that are in lowest terms already, and a key that is not. */
import { z } from 'zod'
import { getCommonDivisor } from '../expressions/numbers.ts'
import { TypedInteger } from '../numbers.ts'
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ numerator: TypedInteger, denominator: TypedInteger })
const FRACTION_PATTERN =
  /^(?:\$?\\d?frac *\{ *(\d{1,40}) *\} *\{ *(\d{1,40}) *\}\$?|\$? *(\d{1,40}) *\/ *(\d{1,40}) *\$?)$/

export const fractionSimplification: Correction = {
  reason: 'Some fractions are in lowest terms already, 1/1 is not taken as 1, and a few keys are not in lowest terms.',
  decide({ entry }) {
    const { numerator, denominator } = Metadata.parse(entry.metadata)
    const divisor = getDivisor(entry)
    return (answer) => {
      if (numerator === denominator && answer === '1') return true
      const [top, bottom] = (FRACTION_PATTERN.exec(answer) ?? []).slice(1).filter((part) => part !== undefined)
      if (top === undefined || bottom === undefined) return undefined
      return BigInt(top) * divisor === numerator && BigInt(bottom) * divisor === denominator
    }
  },
  hasRightAnswer: (entry) => getDivisor(entry) > 1n,
}

/** The greatest number that divides both parts of the fraction. */
function getDivisor({ metadata }: DatasetEntry): bigint {
  const { numerator, denominator } = Metadata.parse(metadata)
  return getCommonDivisor(numerator, denominator)
}
