/** An answer without its wrapping: white space around it and at line ends, `\boxed{}`, `$…$`, `\(…\)`, `\text{}`. */
import { rstrip, strip } from '../python/text.ts'
import { InvalidAnswer } from '../scorer.ts'

/** Wrappers within wrappers that are taken off. */
const MAX_WRAPPERS = 8
const FENCES: readonly (readonly [open: string, close: string])[] = [
  ['$$', '$$'],
  ['$', '$'],
  ['\\(', '\\)'],
  ['\\[', '\\]'],
]
const asciiEnd = /[!-~]$/
const command = /^\\(?:boxed|fbox|text|mathrm|mathbf|mathtt|textbf|texttt)\{/
const inner = /\\(?:text|mathrm|mathbf|mathtt|textbf|texttt)\{([^{}]*)\}/g
const fraction = /^(-?)\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}$/

/**
 * The answer as it stands and, where that differs, tidied and unwrapped: one content in several notations and never a
 * second guess, for a wrapper counts only where it holds the whole answer.
 */
export function readingsOf(answer: string): string[] {
  const tidied = tidy(answer)
  const bare = tidy(unwrapped(tidied))
  const [, sign = '', top, bottom] = fraction.exec(bare) ?? []
  return [...new Set([answer, tidied, bare, top === undefined ? bare : `${sign}${top}/${bottom}`])]
}

/** The last of the readings. */
export function bareReading(answer: string): string {
  return readingsOf(answer).at(-1) ?? answer
}

/** The best score of any reading; throws InvalidAnswer where all do. */
export function best(readings: readonly string[], score: (reading: string) => number): number {
  let highest: number | undefined
  let invalid: InvalidAnswer | undefined
  for (const reading of readings) {
    try {
      highest = Math.max(highest ?? 0, score(reading))
    } catch (error) {
      if (!(error instanceof InvalidAnswer)) throw error
      invalid = error
    }
    if (highest === 1) return 1
  }
  if (highest === undefined && invalid !== undefined) throw invalid
  return highest ?? 0
}

/** Without outer white space and without white space at the ends of lines. */
export function tidy(text: string): string {
  const bare = strip(text)
  return bare.includes('\n') ? bare.split('\n').map(withoutEnd).join('\n') : bare
}

/** Of an ASCII letter or digit at the end of a line one look is enough. */
function withoutEnd(line: string): string {
  return asciiEnd.test(line) ? line : rstrip(line)
}

function unwrapped(text: string): string {
  let bare = text
  for (let i = 0; i < MAX_WRAPPERS; i++) {
    const next = withoutWrapper(bare)
    if (next === undefined) break
    bare = strip(next)
  }
  return bare.replaceAll(inner, '$1')
}

/** Undefined where no wrapper holds the whole text. */
function withoutWrapper(text: string): string | undefined {
  for (const [open, close] of FENCES) {
    const held = text.slice(open.length, -close.length)
    const wraps = text.length >= open.length + close.length && text.startsWith(open) && text.endsWith(close)
    if (wraps && !held.includes(open) && !held.includes(close)) return held
  }
  const start = command.exec(text)?.[0].length
  return start !== undefined && closing(text, start) === text.length - 1 ? text.slice(start, -1) : undefined
}

/** Where the brace that was opened before `start` is closed; -1 where it is not. */
function closing(text: string, start: number): number {
  let open = 1
  for (let i = start; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '{') open++
    else if (text[i] === '}' && --open === 0) return i
  }
  return -1
}
