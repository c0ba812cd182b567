/** Partial credit that begins past half of the work: what a guess, an echo or a constant gets right stays below. */
import { z } from 'zod'
import { codePoints, lower, splitWhitespace, strip } from '../python/text.ts'
import { requireOracleAnswer } from '../scorer.ts'
import { getBestScore, listAnswerVariants } from './answer-variants.ts'
import type { HardenedScorer, HardenedScorerInput } from './hardened-scorer.ts'

/** Less than 1 is all that an answer with a fault gets. */
const MAX_PARTIAL_CREDIT = 0.9

/** 0 to half of `of`, then rising evenly to 0.9 at all of it. */
export function creditPastHalf(right: number, of: number): number {
  return of === 0 ? 0 : Math.max(0, (2 * right) / of - 1) * MAX_PARTIAL_CREDIT
}

/** Like `creditPastHalf`, but 1 if everything is right. */
function creditPastHalfOrFull(right: number, of: number): number {
  return right === of ? 1 : creditPastHalf(right, of)
}

/** Equal in all readings that count, else the share of parts in their place; only where there are as many parts. */
function scorePartsInPlace(
  item: HardenedScorerInput,
  partsOf: (text: string) => readonly string[],
): (answer: string) => number {
  const oracle = requireOracleAnswer(item.entry)
  const wanted = partsOf(oracle)
  return (answer) =>
    getBestScore(listAnswerVariants(answer), (reading) => {
      if (reading === oracle) return 1
      const given = partsOf(reading)
      return given.length === wanted.length ? creditPastHalfOrFull(countMatches(wanted, given), wanted.length) : 0
    })
}

export const hardenedSpellBackward: HardenedScorer = (item) =>
  scorePartsInPlace(item, (text) => codePoints(lower(text)))
export const hardenedEmojiMystery: HardenedScorer = (item) => scorePartsInPlace(item, codePoints)
export const hardenedSentenceReordering: HardenedScorer = (item) =>
  scorePartsInPlace(item, (text) => splitWhitespace(lower(text)))
export const hardenedFigletFont: HardenedScorer = (item) =>
  scorePartsInPlace(item, (text) => codePoints(lower(strip(text.replaceAll(' ', '')))))

/** The right words in another order; any other word earns nothing. */
export const hardenedWordSorting: HardenedScorer = (item) => {
  const { sorted_words: wanted } = z.looseObject({ sorted_words: z.array(z.string()) }).parse(item.entry.metadata)
  const words = wanted.toSorted().join('\n')
  return (answer) =>
    getBestScore(listAnswerVariants(answer), (reading) => {
      const given = reading.split(',').map((word) => strip(word))
      return given.toSorted().join('\n') === words
        ? creditPastHalfOrFull(countMatches(wanted, given), wanted.length)
        : 0
    })
}

/** Only words that were scrambled count, so that the question repeated earns nothing. */
export const hardenedLetterJumble: HardenedScorer = (item) => {
  const words = z.array(z.string().transform(lower))
  const { scrambled_words: scrambled, original_words: original } = z
    .looseObject({ scrambled_words: words, original_words: words })
    .parse(item.entry.metadata)
  const changed = [...original.keys()].filter((i) => original[i] !== scrambled[i])
  const oracle = lower(strip(requireOracleAnswer(item.entry)))
  return (answer) =>
    getBestScore(listAnswerVariants(answer), (reading) => {
      if (lower(strip(reading)) === oracle) return 1
      const given = splitWhitespace(lower(reading))
      if (given.length !== original.length) return 0
      return creditPastHalf(changed.filter((i) => given[i] === original[i]).length, changed.length)
    })
}

function countMatches(wanted: readonly string[], given: readonly string[]): number {
  return wanted.filter((part, i) => part === given[i]).length
}
