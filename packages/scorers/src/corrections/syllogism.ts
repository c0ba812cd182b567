/** syllogism: a conclusion follows if it holds in every world in which both premises do and no group is empty. */
import { z } from 'zod'
import { requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ premise1: z.string(), premise2: z.string(), conclusion: z.string() })
const STATEMENT_PATTERN = /^(All|No|Some) (.+) are (not )?(.+)$/

/** Which of the eight kinds of things, those in or out of each of three groups, there are: one bit for each kind. */
type World = number
const WORLDS: readonly World[] = Array.from({ length: 2 ** 8 }, (_, world) => world)
/** The kinds that are in each group. */
const MEMBERS = [0b10101010, 0b11001100, 0b11110000]

export const syllogism: Correction = {
  reason:
    'Two forms that are not valid have the key Yes: those whose middle term neither premise speaks of as a whole. ' +
    'The question does not say whether a group may be empty, so "Some A are B" may not follow from "All A are B".',
  keys({ entry }) {
    const answer = follows(entry.metadata, false) ? 'Yes' : 'No'
    return answer === requireOracleAnswer(entry) ? undefined : [answer]
  },
  clarification: ({ metadata }) =>
    follows(metadata, true) === follows(metadata, false)
      ? undefined
      : 'Note: each of these groups has at least one member.',
}

function follows(metadata: unknown, mayBeEmpty: boolean): boolean {
  const { premise1, premise2, conclusion } = Metadata.parse(metadata)
  const groups: string[] = []
  const [first, second, third] = [premise1, premise2, conclusion].map((text) => readStatement(text, groups))
  return WORLDS.every(
    (world) =>
      !(mayBeEmpty || MEMBERS.every((kinds) => (world & kinds) !== 0)) ||
      !(first?.(world) && second?.(world)) ||
      third?.(world),
  )
}

/** Whether a statement holds in a world. `groups` are the names of those that were read of before. */
function readStatement(text: string, groups: string[]): (world: World) => boolean {
  const [, quantifier, subject = '', negation, predicate = ''] = STATEMENT_PATTERN.exec(text) ?? []
  const [ofSubject = 0, ofPredicate = 0] = [subject, predicate].map((group) => {
    if (!groups.includes(group)) groups.push(group)
    return MEMBERS[groups.indexOf(group)] ?? 0
  })
  const isIn = (world: World) => (world & ofSubject & ofPredicate) !== 0
  const isOut = (world: World) => (world & ofSubject & ~ofPredicate) !== 0
  if (quantifier === 'All') return (world) => !isOut(world)
  if (quantifier === 'No') return (world) => !isIn(world)
  return negation === undefined ? isIn : isOut
}
