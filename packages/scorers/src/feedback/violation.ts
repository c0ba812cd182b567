/**
 * What an explanation of a wrong answer says: the first fault that anyone can find with the question and the answer alone.
 * An explainer gets nothing else, so it cannot give away what only the reference answer knows.
 */
import { codePoints, strip } from '../python/text.ts'

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
const SURROGATE_PATTERN = /[\ud800-\udfff]/

/** A part of the answer or the question in a sentence. */
export function quote(text: string): string {
  const given = strip(text)
  const line = /[\n`]/.test(given) ? given.replaceAll('\n', ' ⏎ ').replaceAll('`', '’') : given
  return line === '' ? 'nothing' : `\`${shorten(line)}\``
}

function shorten(line: string): string {
  if (line.length <= MAX_QUOTED_CHARS) return line
  const start = line.slice(0, 2 * MAX_QUOTED_CHARS)
  if (!SURROGATE_PATTERN.test(start)) return `${line.slice(0, MAX_QUOTED_CHARS)}…`
  const chars = codePoints(start)
  return chars.length > MAX_QUOTED_CHARS ? `${chars.slice(0, MAX_QUOTED_CHARS).join('')}…` : line
}

/** `1 number`, `2 numbers` */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

/** A fault of form where a part of an answer does not fit. `form` says what is needed, `noun` what a part is called. */
export function findMisfit(
  parts: readonly string[],
  fits: (part: string) => boolean,
  form: string,
  noun: string,
  place: 'item' | 'move' = 'item',
): Violation | undefined {
  const at = parts.findIndex((part) => !fits(part))
  return at < 0
    ? undefined
    : formatFault(`${form}, but ${noun} ${at + 1} is ${quote(parts[at] ?? '')}.`, { [place]: at + 1 })
}

/** A broken rule where a part must not follow the one before it; `show` writes a part. */
export function findDisorder(
  parts: readonly string[],
  direction: string,
  isReversed: (before: string, part: string) => boolean,
  show = quote,
): Violation | undefined {
  const at = parts.findIndex((part, i) => isReversed(parts[i - 1] ?? part, part))
  if (at < 0) return undefined
  const [before, part] = [parts[at - 1] ?? '', parts[at] ?? '']
  return brokenRule(`${show(before)} before ${show(part)} is not in ${direction} order.`, { item: at + 1 })
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

type MultisetDifference =
  | { kind: 'foreign' | 'repeated'; item: number; part: string; times: number }
  | { kind: 'missing'; part: string }

/** Finds the first difference between the parts of an answer and the parts that it must consist of, in any order. */
export function createMultisetComparison(
  wanted: readonly string[],
): (given: readonly string[]) => MultisetDifference | undefined {
  const times = new Map<string, number>()
  for (const part of wanted) times.set(part, (times.get(part) ?? 0) + 1)
  return (given) => {
    const used = new Map<string, number>()
    for (let i = 0; i < given.length; i++) {
      const part = given[i] ?? ''
      const allowed = times.get(part) ?? 0
      const now = (used.get(part) ?? 0) + 1
      if (now > allowed) return { kind: allowed === 0 ? 'foreign' : 'repeated', item: i + 1, part, times: allowed }
      used.set(part, now)
    }
    if (given.length === wanted.length) return undefined
    const part = wanted.find((one) => (used.get(one) ?? 0) < (times.get(one) ?? 0))
    return part === undefined ? undefined : { kind: 'missing', part }
  }
}

/** A broken rule where an answer does not consist of the wanted parts; `noun` is what a part is called, `source` what has them. */
export function createMultisetCheck(
  wanted: readonly string[],
  noun: string,
  source = 'the question',
): (given: readonly string[]) => Violation | undefined {
  const compare = createMultisetComparison(wanted)
  return (given) => {
    const difference = compare(given)
    return difference && describeDifference(difference, noun, source)
  }
}

export function describeDifference(difference: MultisetDifference, noun: string, source = 'the question'): Violation {
  switch (difference.kind) {
    case 'foreign':
      return brokenRule(`The ${noun} ${quote(difference.part)} is not in ${source}.`, { item: difference.item })
    case 'repeated':
      return brokenRule(
        `The ${noun} ${quote(difference.part)} is used more often than ${source} has it (${count(difference.times, 'time')}).`,
        { item: difference.item },
      )
    case 'missing':
      return brokenRule(`The ${noun} ${quote(difference.part)} is not used as often as ${source} has it.`)
  }
}
