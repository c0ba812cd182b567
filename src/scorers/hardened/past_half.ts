/** Partial credit that begins past half of the work: what a guess, an echo or a constant gets right stays below. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { codePoints, lower, split, strip } from '../python/text.ts'
import type { Hardening, Item } from './hardening.ts'
import { best, readingsOf } from './readings.ts'

/** Less than 1 is all that an answer with a fault gets. */
const MOST = 0.9

/** 0 to half of `of`, then rising evenly to 0.9 at all of it. */
export function pastHalf(right: number, of: number): number {
  return of === 0 ? 0 : Math.max(0, (2 * right) / of - 1) * MOST
}

/** As pastHalf, and 1 where all is right. */
function share(right: number, of: number): number {
  return right === of ? 1 : pastHalf(right, of)
}

/** Equal in all readings that count, else the share of parts in their place; only where there are as many parts. */
function inPlace(item: Item, partsOf: (text: string) => readonly string[]): (answer: string) => number {
  const oracle = oracleOf(item.entry)
  const wanted = partsOf(oracle)
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      if (reading === oracle) return 1
      const given = partsOf(reading)
      return given.length === wanted.length ? share(matches(wanted, given), wanted.length) : 0
    })
}

export const spellBackward: Hardening = (item) => inPlace(item, (text) => codePoints(lower(text)))
export const emojiMystery: Hardening = (item) => inPlace(item, codePoints)
export const sentenceReordering: Hardening = (item) => inPlace(item, (text) => split(lower(text)))
export const figletFont: Hardening = (item) =>
  inPlace(item, (text) => codePoints(lower(strip(text.replaceAll(' ', '')))))

/** The right words in another order; any other word earns nothing. */
export const wordSorting: Hardening = (item) => {
  const { sorted_words: wanted } = z.looseObject({ sorted_words: z.array(z.string()) }).parse(item.entry.metadata)
  const words = wanted.toSorted().join('\n')
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      const given = reading.split(',').map((word) => strip(word))
      return given.toSorted().join('\n') === words ? share(matches(wanted, given), wanted.length) : 0
    })
}

/** Only words that were scrambled count, so that the question repeated earns nothing. */
export const letterJumble: Hardening = (item) => {
  const words = z.array(z.string().transform(lower))
  const { scrambled_words: scrambled, original_words: original } = z
    .looseObject({ scrambled_words: words, original_words: words })
    .parse(item.entry.metadata)
  const changed = [...original.keys()].filter((i) => original[i] !== scrambled[i])
  const oracle = lower(strip(oracleOf(item.entry)))
  return (answer) =>
    best(readingsOf(answer), (reading) => {
      if (lower(strip(reading)) === oracle) return 1
      const given = split(lower(reading))
      if (given.length !== original.length) return 0
      return pastHalf(changed.filter((i) => given[i] === original[i]).length, changed.length)
    })
}

function matches(wanted: readonly string[], given: readonly string[]): number {
  return wanted.filter((part, i) => part === given[i]).length
}
