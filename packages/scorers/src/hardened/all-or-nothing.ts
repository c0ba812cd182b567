/** No credit but for the right answer: closes substring credit, format floors and credit for being near. */
import { lower } from '../python/text.ts'
import { type HardenedScorer, isFullScore, scoreBestReading } from './hardened-scorer.ts'
import { listAnswerVariants, trimLines } from './notations.ts'

const TRUTH_WORDS = new Set(['true', 'false', 'yes', 'no', 'on', 'off', 'undetermined'])

/** 1 where the library gives 1 to some reading, or where a reading means what the oracle does. */
export const allOrNothing: HardenedScorer = (item) => {
  const same = createOracleMatcher(item.entry.answer)
  return scoreBestReading((reading) => (same(reading) || isFullScore(item.upstream(reading)) ? 1 : 0))
}

/** 1 for the oracle but for white space, and where the library gives 1 to some reading: for texts that are no numbers. */
export const exactTextOnly: HardenedScorer = ({ entry, upstream }) => {
  const oracle = entry.answer === null ? undefined : trimLines(entry.answer)
  return scoreBestReading((reading) => (reading === oracle || isFullScore(upstream(reading)) ? 1 : 0))
}

/** The oracle's own word, in any letter case; the library is not asked. */
export const sameTruthWord: HardenedScorer = ({ entry }) => {
  const same = createOracleMatcher(entry.answer)
  return (answer) => (listAnswerVariants(answer).some(same) ? 1 : 0)
}

/** Like `exactTextOnly`, but ignores letter case. */
export const caseInsensitiveTextOnly: HardenedScorer = (item) => {
  const oracle = lower(trimLines(item.entry.answer ?? ''))
  const right = exactTextOnly(item)
  return (answer) => (listAnswerVariants(answer).some((reading) => lower(reading) === oracle) ? 1 : right(answer))
}

/** The library's score of the best reading, none at or below the floor that it gives for form alone. */
export function aboveFloor(floor: number): HardenedScorer {
  return ({ upstream }) => {
    const best = scoreBestReading(upstream)
    return (answer) => {
      const score = best(answer)
      return score > floor ? score : 0
    }
  }
}

/** Equal but for white space, or for the letter case of a verdict such as `True`. */
function createOracleMatcher(oracle: string | null): (reading: string) => boolean {
  if (oracle === null) return () => false
  const wanted = trimLines(oracle)
  const verdict = TRUTH_WORDS.has(lower(wanted)) ? lower(wanted) : undefined
  return (reading) => reading === wanted || (verdict !== undefined && lower(reading) === verdict)
}
