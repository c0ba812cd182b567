/** Corrections of tasks in logic: gates of one input, roles that are taken back, and groups that may be empty. */
import { z } from 'zod'
import { lower, splitWhitespace } from '../python/text.ts'
import { requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

const Circuit = z.looseObject({
  term_strings: z.array(z.string()),
  assignments: z.record(z.string(), z.int()),
  final_gate: z.enum(['OR', 'NOR', 'XOR', 'AND']),
})
type Circuit = z.infer<typeof Circuit>

const SIGN_PATTERN = /[&↑⊕]/

export const circuitLogic: Correction = {
  reason: 'A gate of one input is drawn as a wire, and negates its input in the key if it is a NAND or a last NOR.',
  keys({ entry }) {
    const { term_strings: terms, assignments, final_gate: last } = Circuit.parse(entry.metadata)
    if (terms.length > 1 && terms.every((term) => SIGN_PATTERN.test(term))) return undefined
    const bits = terms.map((term) => evaluateTerm(term, assignments))
    return [String(Number(bits.length === 1 ? bits[0] : passGate(last, bits)))]
  },
}

function evaluateTerm(term: string, assignments: Circuit['assignments']): boolean {
  const bits = term
    .split(SIGN_PATTERN)
    .map((input) => (assignments[input.replace("'", '')] === 1) !== input.endsWith("'"))
  const [sign] = SIGN_PATTERN.exec(term) ?? []
  return passGate(sign === '⊕' ? 'XOR' : sign === '↑' ? 'NAND' : 'AND', bits)
}

function passGate(gate: Circuit['final_gate'] | 'NAND', bits: readonly boolean[]): boolean {
  if (gate === 'XOR') return bits.filter(Boolean).length % 2 === 1
  if (gate === 'AND' || gate === 'NAND') return bits.every(Boolean) === (gate === 'AND')
  return bits.some(Boolean) === (gate === 'OR')
}

const Islanders = z.looseObject({ knight_knave_terms: z.looseObject({ knight: z.string(), knave: z.string() }) })

const FILLERS = new Set(['is', 'a', 'an', 'and'])
const DENIAL_PATTERN = /\b(?:not|or|nor|neither|either|never|false|untrue|unless)\b|n['’]t\b/

export const knightsKnaves: Correction = {
  reason:
    'Where an answer gives someone both roles, only the first counts, and a denial before or behind all is passed.',
  decide({ entry }) {
    const { knight, knave } = Islanders.parse(entry.metadata).knight_knave_terms
    const isRole = (word: string | undefined) => word === knight || word === knave
    return (answer) => {
      const text = lower(answer).replaceAll(/[.,()]/g, ' ')
      const words = splitWhitespace(text).filter((word) => !FILLERS.has(word))
      const isTakenBack = DENIAL_PATTERN.test(text) || words.some((word, k) => isRole(word) && isRole(words[k - 1]))
      return isTakenBack ? false : undefined
    }
  },
}

const Syllogism = z.looseObject({ premise1: z.string(), premise2: z.string(), conclusion: z.string() })
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
  const { premise1, premise2, conclusion } = Syllogism.parse(metadata)
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
