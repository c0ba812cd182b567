/** Corrections of questions about people: whose brother, what relative, and who of several. */
import { z } from 'zod'
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

const Relatives = z.looseObject({ person1: z.string(), relationship: z.string() })
const Names = z.looseObject({ male_names: z.array(z.string()), female_names: z.array(z.string()) })

/** What the first person is, where the library names the second one: a woman's word, then a man's. */
const WORDS: Readonly<Record<string, readonly [ofWoman: string, ofMan: string]>> = {
  niece: ['niece', 'nephew'],
  nephew: ['niece', 'nephew'],
  'mother-in-law': ['daughter-in-law', 'son-in-law'],
  'father-in-law': ['daughter-in-law', 'son-in-law'],
}

const NAMES_OF_EITHER_SEX: ReadonlySet<string> = new Set(
  'Atlas Axel Kai Logan Nova Phoenix Rain River Ryder Sage Sky Winter Zion'.split(' '),
)
/** The words that name the first person, with those of a woman first: not those of WORDS. */
const SEX_PATTERN = /^(?:(mother|sister|daughter|wife|grandmother|aunt)|father|brother|son|husband|grandfather|uncle)$/

export const familyRelationships: Correction = {
  reason:
    'A daughter-in-law or son-in-law is called by what the other person is to her or him; nieces and nephews are ' +
    "named by the other person's sex; and names such as River do not tell a sister from a brother.",
  keys({ entry, config }) {
    const { person1, relationship } = Relatives.parse(entry.metadata)
    const { male_names: male, female_names: female } = Names.parse(config)
    const isOfEitherSex = [person1, getSpouse(entry.question, person1)].every((name) => NAMES_OF_EITHER_SEX.has(name))
    return WORDS[relationship]?.filter((_, k) => isOfEitherSex || (k === 0 ? female : male).includes(person1))
  },
  clarification({ metadata }) {
    const { person1, relationship } = Relatives.parse(metadata)
    const [word, woman] = SEX_PATTERN.exec(relationship) ?? []
    return word && NAMES_OF_EITHER_SEX.has(person1) ? `Note: ${person1} is a ${woman ? 'woman' : 'man'}.` : undefined
  },
}

/** Each couple is a man and a woman: the person's spouse, or the person where there is none. */
function getSpouse(question: string, person: string): string {
  for (const [, one = '', other = ''] of question.matchAll(COUPLE_PATTERN)) {
    if (one === person) return other
    if (other === person) return one
  }
  return person
}

const COUPLE_PATTERN = /\b(\w+) is married to (\w+)\./g

const QUESTION_PATTERN = /\nWho (.+)\? Reply only with a name\.$/

export const needleHaystack: Correction = {
  reason: 'Of several people of whom the statements say what is asked for, only one is paid.',
  keys({ entry: { question } }) {
    const [, what = ''] = QUESTION_PATTERN.exec(question) ?? []
    const names = question
      .split('. ')
      .filter((statement) => statement.endsWith(` ${what}`))
      .map((statement) => statement.slice(0, -what.length - 1))
    return names.length > 1 ? names : undefined
  },
}
