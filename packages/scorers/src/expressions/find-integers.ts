/** The whole numbers that stand in a text. */
import { PyValueError, parseInteger } from '../python/numbers.ts'
import { PY_D, PY_W } from '../python/text.ts'

const NUMBER_PATTERN = new RegExp(`(?<!${PY_W})${PY_D}+(?!${PY_W})`, 'gv')

/** Those with nothing of a word beside them, in their order; undefined where one has more digits than Python reads. */
export function findIntegers(text: string): bigint[] | undefined {
  try {
    return (text.match(NUMBER_PATTERN) ?? []).map((digits) => parseInteger(digits))
  } catch (error) {
    if (error instanceof PyValueError) return undefined
    throw error
  }
}
