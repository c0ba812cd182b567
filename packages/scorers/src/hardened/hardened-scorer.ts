/** What a hardened rule is: made once for an item, it scores any answer to it, by the readings of the answer without its wrapping. */
import { rstrip, strip } from '../python/text.ts'
import { type DatasetEntry, InvalidAnswerError, type ResolvedConfig } from '../scorer.ts'

export interface HardenedScorerInput {
  entry: DatasetEntry
  config: ResolvedConfig
  /** The library's score of any text, before clamping; throws InvalidAnswer where the library raises. */
  upstream: (text: string) => number
}

export type HardenedScorer = (item: HardenedScorerInput) => (answer: string) => number

/** Above this a score is 1 but for the last digits of a float. */
const FULL_SCORE_THRESHOLD = 1 - 1e-9

export function isFullScore(score: number): boolean {
  return score >= FULL_SCORE_THRESHOLD
}

/** Wrappers within wrappers that are taken off. */
const MAX_WRAPPERS = 8
const MATH_DELIMITERS: readonly (readonly [open: string, close: string])[] = [
  ['$$', '$$'],
  ['$', '$'],
  ['\\(', '\\)'],
  ['\\[', '\\]'],
]
const ASCII_END_PATTERN = /[!-~]$/
const COMMAND_PATTERN = /^\\(?:boxed|fbox|text|mathrm|mathbf|mathtt|textbf|texttt)\{/
const TEXT_COMMAND_PATTERN = /\\(?:text|mathrm|mathbf|mathtt|textbf|texttt)\{([^{}]*)\}/g
const FRACTION_PATTERN = /^(-?)\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}$/

/**
 * The answer as it stands and, where that differs, tidied and unwrapped: one content in several notations and never a
 * second guess, for a wrapper counts only where it holds the whole answer. These are the texts that a hardened rule scores
 * with `upstream`: for tasks without a native scorer, the engine scores them first.
 */
export function listAnswerVariants(answer: string): string[] {
  const tidied = trimLines(answer)
  const bare = trimLines(stripWrappers(tidied))
  const [, sign = '', top, bottom] = FRACTION_PATTERN.exec(bare) ?? []
  return [...new Set([answer, tidied, bare, top === undefined ? bare : `${sign}${top}/${bottom}`])]
}

/** The last of the readings. */
export function getBareAnswer(answer: string): string {
  return listAnswerVariants(answer).at(-1) ?? answer
}

/** A rule that gives an answer the best score of its readings; throws InvalidAnswer where all of them do. */
export function scoreBestReading(score: (reading: string) => number): (answer: string) => number {
  return (answer) => {
    let highest: number | undefined
    let invalid: InvalidAnswerError | undefined
    for (const reading of listAnswerVariants(answer)) {
      try {
        highest = Math.max(highest ?? 0, score(reading))
      } catch (error) {
        if (!(error instanceof InvalidAnswerError)) throw error
        invalid = error
      }
      if (highest === 1) return 1
    }
    if (highest === undefined && invalid !== undefined) throw invalid
    return highest ?? 0
  }
}

/** Without outer white space and without white space at the ends of lines. */
export function trimLines(text: string): string {
  const bare = strip(text)
  return bare.includes('\n') ? bare.split('\n').map(trimLineEnd).join('\n') : bare
}

/** Of an ASCII letter or digit at the end of a line one look is enough. */
function trimLineEnd(line: string): string {
  return ASCII_END_PATTERN.test(line) ? line : rstrip(line)
}

function stripWrappers(text: string): string {
  let bare = text
  for (let i = 0; i < MAX_WRAPPERS; i++) {
    const next = stripWrapper(bare)
    if (next === undefined) break
    bare = strip(next)
  }
  return bare.replaceAll(TEXT_COMMAND_PATTERN, '$1')
}

/** Undefined where no wrapper holds the whole text. */
function stripWrapper(text: string): string | undefined {
  for (const [open, close] of MATH_DELIMITERS) {
    const held = text.slice(open.length, -close.length)
    const wraps = text.length >= open.length + close.length && text.startsWith(open) && text.endsWith(close)
    if (wraps && !held.includes(open) && !held.includes(close)) return held
  }
  const start = COMMAND_PATTERN.exec(text)?.[0].length
  return start !== undefined && findClosingBrace(text, start) === text.length - 1 ? text.slice(start, -1) : undefined
}

/** Where the brace that was opened before `start` is closed; -1 where it is not. */
function findClosingBrace(text: string, start: number): number {
  let open = 1
  for (let i = start; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '{') open++
    else if (text[i] === '}' && --open === 0) return i
  }
  return -1
}
