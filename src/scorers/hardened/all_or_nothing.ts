/** No credit but for the right answer: closes substring credit, format floors and credit for being near. */
import { Decimal, InvalidOperation } from '../python/decimal.ts'
import { lower } from '../python/text.ts'
import { type Hardening, type Item, isWhole } from './hardening.ts'
import { best, readingsOf, tidy } from './readings.ts'

const VERDICTS = new Set(['true', 'false', 'yes', 'no', 'on', 'off', 'undetermined'])
/** `x = ` before a value. */
const named = /^[A-Za-z] ?= ?/
const plain = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/

/** 1 where the library gives 1 to some reading, or where a reading means what the oracle does. */
export const allOrNothing: Hardening = (item) => {
  const same = sameAs(item.entry.answer)
  return (answer) => best(readingsOf(answer), (reading) => (same(reading) || isWhole(item.upstream(reading)) ? 1 : 0))
}

/** 1 for the oracle but for white space, and where the library gives 1 to some reading: for texts that are no numbers. */
export const onlyRight: Hardening = ({ entry, upstream }) => {
  const oracle = entry.answer === null ? undefined : tidy(entry.answer)
  return (answer) => best(readingsOf(answer), (reading) => (reading === oracle || isWhole(upstream(reading)) ? 1 : 0))
}

/** The oracle's own word, in any letter case; the library is not asked. */
export const sameVerdict: Hardening = ({ entry }) => {
  const same = sameAs(entry.answer)
  return (answer) => (readingsOf(answer).some(same) ? 1 : 0)
}

/** As `onlyRight`, and letter case is forgiven. */
export const caselessly: Hardening = (item) => {
  const oracle = lower(tidy(item.entry.answer ?? ''))
  const right = onlyRight(item)
  return (answer) => (readingsOf(answer).some((reading) => lower(reading) === oracle) ? 1 : right(answer))
}

/** The library's score of the best reading, none at or below the floor that it gives for form alone. */
export function above(floor: number): Hardening {
  return (item) => (answer) => {
    const score = best(readingsOf(answer), item.upstream)
    return score > floor ? score : 0
  }
}

/** Equal but for white space, for the case of a verdict such as `True`, or as exact decimals, with or without the name of the unknown. */
function sameAs(oracle: Item['entry']['answer']): (reading: string) => boolean {
  if (oracle === null) return () => false
  const wanted = tidy(oracle)
  const verdict = VERDICTS.has(lower(wanted)) ? lower(wanted) : undefined
  const value = decimalOf(wanted)
  return (reading) => {
    if (reading === wanted) return true
    if (verdict !== undefined) return lower(reading) === verdict
    return value !== undefined && (decimalOf(reading.replace(named, ''))?.equals(value) ?? false)
  }
}

/** A number in digits; neither `nan` nor `1_0` nor other scripts. */
export function decimalOf(text: string): Decimal | undefined {
  try {
    return plain.test(text) ? Decimal.parse(text) : undefined
  } catch (error) {
    if (error instanceof InvalidOperation) return undefined
    throw error
  }
}
