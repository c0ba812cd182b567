/** aiw: a brother of no one in the story, and the two circles that Matilda is in. */
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

const BROTHERS_PATTERN =
  /^(?<she>\S+) has [^.]{0,200}?\b(?<brothers>\d{1,9}) brothers\. How many sisters does (?<he>\S+)'s brother have\?$/
const HER_CIRCLE_PATTERN = /^(?<she>\S+) has [^.]{0,200}?\b(?<hers>\d{1,9}) female colleagues\./
const HIS_CIRCLE_PATTERN =
  / each other\. (?<he>[^.]+?) has \d+ male colleagues and (?<his>\d+) female colleagues in total/

export const aiw: Correction = {
  reason:
    'Some questions on the sisters of a brother do not say whose brother he is, and he has none where there is but ' +
    'one; Matilda is counted as a colleague of her own, and the women of her second circle are left out.',
  keys(item) {
    const circles = readCircles(item.entry)
    return circles && [String(circles.hers + circles.his - 1)]
  },
  hasRightAnswer: (entry) => readStranger(entry)?.brothers !== 1,
  clarification(entry) {
    const stranger = readStranger(entry)
    if (stranger !== undefined && stranger.brothers > 1)
      return `Note: ${stranger.he} is one of ${stranger.she}'s brothers.`
    const circles = readCircles(entry)
    // Where he has no other female colleague, it does not matter whether his are hers.
    if (circles === undefined || circles.his === 1) return undefined
    const { she, hers, he, his } = circles
    return `Note: Matilda is one of ${she}'s ${hers} female colleagues and one of ${he}'s ${his} female colleagues.`
  },
}

/** Whom a question asks about without a word on who he is; undefined for other questions. */
function readStranger({ question }: DatasetEntry): { she: string; he: string; brothers: number } | undefined {
  const { she = '', he = '', brothers } = BROTHERS_PATTERN.exec(question)?.groups ?? {}
  return he === she ? undefined : { she, he, brothers: Number(brothers) }
}

/** Undefined where the question is not on colleagues. */
function readCircles({ question }: DatasetEntry): { she: string; hers: number; he: string; his: number } | undefined {
  const { she, hers } = HER_CIRCLE_PATTERN.exec(question)?.groups ?? {}
  const { he, his } = HIS_CIRCLE_PATTERN.exec(question)?.groups ?? {}
  if (she === undefined || he === undefined) return undefined
  return { she, hers: Number(hers), he, his: Number(his) }
}
