/**
 * What an explanation of a wrong answer says: the first fault that anybody can find with the question and the answer alone.
 * An explainer gets nothing else, so it cannot give away what only the reference answer knows.
 */
import { codePointLength, codePoints, strip } from '../python/text.ts'

/** Where the fault is; all numbers count from 1. */
export interface Place {
  row?: number
  column?: number
  /** A move, step, action or button press. */
  move?: number
  /** A word, number, token, character or other part of a list. */
  item?: number
}

/** `format`: the answer lacks the form that the question asks for. `rule`: it has the form, and breaks a rule of the question. */
export interface Violation {
  kind: 'format' | 'rule'
  text: string
  where?: Place
}

/** Finds the first violation of an answer; undefined if only the reference answer can tell what is wrong. */
export type AnswerCheck = (answer: string) => Violation | undefined

/** Reads a question once, for any number of answers. Throws QuestionError where a question has another form. */
export type Explainer = (question: string) => AnswerCheck

/** The question is not written as the library writes the questions of its task. */
export class QuestionError extends Error {}

export function formatFault(text: string, where?: Place): Violation {
  return { kind: 'format', text, ...(where && { where }) }
}

export function brokenRule(text: string, where?: Place): Violation {
  return { kind: 'rule', text, ...(where && { where }) }
}

const MAX_QUOTED_CHARS = 40

/** A part of the answer or the question in a sentence. */
export function quote(text: string): string {
  const line = strip(text).replaceAll('\n', ' ⏎ ').replaceAll('`', '’')
  if (line === '') return 'nothing'
  const isLong = line.length > MAX_QUOTED_CHARS && codePointLength(line) > MAX_QUOTED_CHARS
  return isLong
    ? `\`${codePoints(line.slice(0, 2 * MAX_QUOTED_CHARS))
        .slice(0, MAX_QUOTED_CHARS)
        .join('')}…\``
    : `\`${line}\``
}

/** `1 number`, `2 numbers` */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

/** The groups of the first match in a question. */
export function readQuestion(question: string, pattern: RegExp): string[] {
  const found = pattern.exec(question)
  if (!found) throw new QuestionError(`no ${pattern.source} in the question`)
  return found.slice(1)
}

/** The first group of the first match. */
export function readPart(question: string, pattern: RegExp): string {
  return readQuestion(question, pattern)[0] ?? ''
}

/** The text of a question after the last occurrence of a phrase. */
export function textAfter(question: string, phrase: string): string {
  const at = question.lastIndexOf(phrase)
  if (at < 0) throw new QuestionError(`no “${phrase}” in the question`)
  return question.slice(at + phrase.length)
}

/** The first difference between the parts of an answer and the parts that it must consist of, in any order. */
export function findMultisetDifference(
  given: readonly string[],
  wanted: readonly string[],
):
  | { kind: 'foreign' | 'repeated'; item: number; part: string; times: number }
  | { kind: 'missing'; part: string }
  | undefined {
  const left = new Map<string, number>()
  for (const part of wanted) left.set(part, (left.get(part) ?? 0) + 1)
  const known = new Map(left)
  for (const [i, part] of given.entries()) {
    const rest = left.get(part)
    if (rest === undefined) return { kind: 'foreign', item: i + 1, part, times: 0 }
    if (rest === 0) return { kind: 'repeated', item: i + 1, part, times: known.get(part) ?? 0 }
    left.set(part, rest - 1)
  }
  for (const part of wanted) if ((left.get(part) ?? 0) > 0) return { kind: 'missing', part }
  return undefined
}

/** A broken rule where an answer does not consist of the wanted parts; `noun` is what a part is called. */
export function checkMultiset(
  given: readonly string[],
  wanted: readonly string[],
  noun: string,
): Violation | undefined {
  const difference = findMultisetDifference(given, wanted)
  switch (difference?.kind) {
    case undefined:
      return undefined
    case 'foreign':
      return brokenRule(`The ${noun} ${quote(difference.part)} is not in the question.`, { item: difference.item })
    case 'repeated':
      return brokenRule(
        `The ${noun} ${quote(difference.part)} is used more often than the question has it (${count(difference.times, 'time')}).`,
        { item: difference.item },
      )
    case 'missing':
      return brokenRule(
        `The ${noun} ${quote(difference.part)} of the question is missing, or is not used often enough.`,
      )
  }
}
