/**
 * The notations of one answer: what people and chat models put around an answer, and other ways to write the same numbers and
 * cells. A reading is the same content in another notation, never a second guess: a wrapper counts only where it holds the whole
 * answer, and cells only where all of them are there, in their order.
 */
import { Decimal } from '../python/decimal.ts'
import { catchPythonError } from '../python/numbers.ts'
import { lower, rstrip, strip } from '../python/text.ts'

/** Wrappers within wrappers that are taken off. */
const MAX_WRAPPERS = 8
/** Longer answers than this many times the key, and this many characters, are not written in the layout of the key. */
const MAX_LENGTH_RATIO = 8
const MAX_EXTRA_CHARS = 1000

/** Delimiters that may hold a whole answer and do not occur inside of it. */
const DELIMITERS: readonly (readonly [open: string, close: string])[] = [
  ['$$', '$$'],
  ['$', '$'],
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['***', '***'],
  ['**', '**'],
  ['__', '__'],
  ['*', '*'],
  ['_', '_'],
  ['``', '``'],
  ['`', '`'],
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['‘', '’'],
  ['«', '»'],
  ['„', '“'],
]
const FENCE_PATTERN = /^```[\w+-]{0,20}[ \t]*\n([^`]*?)\n?```$/
const ANSWER_IS_PATTERN =
  /^(?:\*\*|__)?(?:the )?(?:(?:final|correct|right) )?answer(?: is|:\*\*|:__|\*\*:|__:|:| =)(?: ?:)?(?!\w)\s*/i
const COMMAND_PATTERN = /^\\(?:boxed|fbox|text|mathrm|mathbf|mathtt|textbf|texttt)\{/
const TEXT_COMMAND_PATTERN = /\\(?:text|mathrm|mathbf|mathtt|textbf|texttt)\{([^{}]*)\}/g
/** `F(x) =` before an antiderivative. */
const FUNCTION_PATTERN = /^[A-Za-z]\([A-Za-z]\) ?= ?/
const FRACTION_PATTERN = /^(-?)\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}$/
const ASCII_END_PATTERN = /[!-~]$/

/** Characters that look the same: spaces that do not break, minus signs, wide digits, curly quotes. */
const LOOKALIKE_PATTERN =
  /[\u00A0\u2007\u2009\u202F\u2011\u2012\u2013\u2212\uFE63\uFF0B-\uFF0E\uFF10-\uFF19\u2018\u2019\u201C\u201D]/g

/**
 * The answer as it stands and, where that differs, without each of its wrappers. The last one is the barest. These are the texts
 * that a hardened rule scores with `upstream`.
 */
export function listAnswerVariants(answer: string): string[] {
  const texts = new Set([answer])
  let bare = trimLines(answer)
  texts.add(bare)
  for (let i = 0; i < MAX_WRAPPERS; i++) {
    const next = stripWrapper(bare)
    if (next === undefined) break
    bare = trimLines(next)
    texts.add(bare)
  }
  for (const text of [...texts].map(toPlain)) texts.add(text)
  bare = toPlain(bare)
  texts.delete(bare)
  texts.add(bare)
  const [, sign = '', top, bottom] = FRACTION_PATTERN.exec(bare) ?? []
  if (top !== undefined) texts.add(`${sign}${top}/${bottom}`)
  return [...texts]
}

function toPlain(text: string): string {
  let plain = text.replaceAll(LOOKALIKE_PATTERN, toPlainCharacter)
  for (let i = 0; i < MAX_WRAPPERS && plain.includes('\\'); i++) plain = plain.replaceAll(TEXT_COMMAND_PATTERN, '$1')
  return plain
}

/** The barest of the variants. */
export function getBareAnswer(answer: string): string {
  return listAnswerVariants(answer).at(-1) ?? answer
}

/**
 * The variants of an answer and, where they differ, its number in plain digits, without what the question counts, or its cells with
 * the brackets, commas and spaces of the key.
 */
export function listReadings(answer: string, key: string | null, question = ''): string[] {
  const variants = listAnswerVariants(answer)
  const bare = variants.at(-1) ?? answer
  const written = key === null ? undefined : (writeNumber(bare, key, question) ?? writeInLayout(bare, key))
  return written === undefined ? variants : [...new Set([...variants, ...listAnswerVariants(written)])]
}

/** Without outer white space and without white space at the ends of lines. */
export function trimLines(text: string): string {
  const bare = strip(text)
  return bare.includes('\n') ? bare.split('\n').map(trimLineEnd).join('\n') : bare
}

/** One look is enough at a line that ends with an ASCII letter or digit. */
function trimLineEnd(line: string): string {
  return ASCII_END_PATTERN.test(line) ? line : rstrip(line)
}

/** Undefined where no wrapper holds the whole text. */
function stripWrapper(text: string): string | undefined {
  const fenced = text.startsWith('```') ? FENCE_PATTERN.exec(text)?.[1] : undefined
  if (fenced !== undefined) return fenced
  for (const [open, close] of DELIMITERS) {
    if (text.length <= open.length + close.length || !text.startsWith(open) || !text.endsWith(close)) continue
    const held = text.slice(open.length, -close.length)
    if (!held.includes(open) && !held.includes(close)) return held
  }
  const start = COMMAND_PATTERN.exec(text)?.[0].length
  if (start !== undefined && findClosingBrace(text, start) === text.length - 1) return text.slice(start, -1)
  const phrase = (ANSWER_IS_PATTERN.exec(text) ?? FUNCTION_PATTERN.exec(text))?.[0].length
  if (phrase !== undefined && phrase < text.length) return text.slice(phrase)
  return text.length > 1 && text.endsWith('.') && !text.endsWith('...') ? text.slice(0, -1) : undefined
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

function toPlainCharacter(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  if (code >= 0xff0b && code <= 0xff19) return String.fromCodePoint(code - 0xfee0)
  if (/[\u2011-\u2013\u2212\uFE63]/.test(sign)) return '-'
  if (/[\u2018\u2019]/.test(sign)) return "'"
  return /[\u201C\u201D]/.test(sign) ? '"' : ' '
}

const PLAIN_DECIMAL_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/
/** Thousands apart by one kind of sign throughout. */
const THOUSANDS_PATTERN = /^[+-]?\d{1,3}(?:(,|_|'| |\{,\}|\\,)\d{3})(?:\1\d{3}){0,20}(?:\.\d+)?$/
const SEPARATOR_PATTERN = /\{,\}|\\,|[,_' ]/g
/** A name, or a term with an operator: `x`, `total cost`, `P(X > 7)`, `2 + 3`. */
const NAME_PATTERN = /^(?:[A-Za-z][A-Za-z ]{0,30}|[A-Za-z]\([^()=]{1,40}\))?$/
const VALUE_PATTERN = /^[-+]?[\d.\s]{1,80}[ij]?$/
const TERM_PATTERN = /^[\d.\s()a-z\\]{0,80}(?:[-+*/×÷^·]|\\times|\\cdot|\\div)[-\d.\s()a-z+*/×÷^·\\]{0,200}$/
const SECOND_GUESS_PATTERN = /\b(?:or|not|nor|and|no)\b/i

/** A number in digits; neither `nan` nor `1_0` nor other scripts. */
export function parsePlainDecimal(text: string): Decimal | undefined {
  return PLAIN_DECIMAL_PATTERN.test(text) ? catchPythonError(() => Decimal.parse(text), undefined) : undefined
}

/** A number, a fraction, a complex number. Not `1e3`, which may have base 16: exponents of the library have a sign. */
const NUMERIC_KEY_PATTERN = /^[-+]?[\d.(](?:[-+\d./ ij()]|e(?=[-+]\d))*$/
/** Before a value that may be rounded, where the key has places. */
const EQUALS_PATTERN = /=|≈|\\approx/

/** The number that an answer gives, in plain digits, and as the key has it where it is the same. Undefined where the key is no number. */
function writeNumber(bare: string, key: string, question: string): string | undefined {
  const wanted = strip(key)
  if (!NUMERIC_KEY_PATTERN.test(wanted)) return undefined
  const parts = bare.split(/[./]/.test(wanted) ? EQUALS_PATTERN : '=').map((part) => strip(part))
  const last = dropCountedNoun(parts.pop() ?? '', question)
  if (parts.some((part) => !isNameOrTerm(part))) return undefined
  const digits = last.split('/').map(toPlainDigits).join('/')
  const [value, number] = [parsePlainDecimal(digits), parsePlainDecimal(wanted)]
  if (value === undefined || number === undefined) return digits === bare ? undefined : digits
  return value.equals(number) ? wanted : digits
}

function toPlainDigits(text: string): string {
  const bare = strip(text)
  return THOUSANDS_PATTERN.test(bare) ? bare.replaceAll(SEPARATOR_PATTERN, '') : bare
}

const COUNT_PATTERN = /^([-+]?[\d., _']{1,40}) ([A-Za-z][A-Za-z ]{0,40})$/

/** `194 legs` is 194 where the question asks how many legs there are. */
function dropCountedNoun(text: string, question: string): string {
  const [, count = '', noun = ''] = COUNT_PATTERN.exec(text) ?? []
  const words = ` ${lower(question).replaceAll(/[\s?.,]+/g, ' ')} `
  const isCounted = ['how many', 'number of'].some((asked) => words.includes(` ${asked} ${lower(noun)} `))
  return isCounted && noun !== '' ? count : text
}

/** What may stand to the left of an equals sign; another number there would be a second guess. */
function isNameOrTerm(part: string): boolean {
  return (
    !SECOND_GUESS_PATTERN.test(part) &&
    !VALUE_PATTERN.test(part) &&
    (NAME_PATTERN.test(part) || TERM_PATTERN.test(lower(part)))
  )
}

/** A text in quotes, or one without white space, commas and brackets. */
const CELL_PATTERN = /"[^"\n]*"|'[^'\n]*'|[^\s,[\]'"()]+/g
const MAX_DEPTH = 2

/** A list, a tuple, a grid of lines, or a list of lists. */
interface Layout {
  cells: string[]
  /** Number of cells in each line or inner list. */
  rows: number[]
  /** What stands before each cell, and after the last. */
  between: string[]
}

/** The cells of an answer with what stands between those of the key; undefined where there are other rows of cells. */
function writeInLayout(bare: string, key: string): string | undefined {
  if (bare.length > MAX_LENGTH_RATIO * key.length + MAX_EXTRA_CHARS) return undefined
  const wanted = parseLayout(key)
  if (wanted === undefined || wanted.cells.length === 0) return undefined
  if (wanted.cells.length === 1 && !/^\[(?:[^[\]]*|\s*\[[^[\]]*\]\s*)\]$/.test(bare)) return undefined
  const given = parseLayout(bare)
  if (given === undefined || given.rows.join() !== wanted.rows.join()) return undefined
  const quote = /^["']/.exec(wanted.cells[0] ?? '')?.[0] ?? ''
  const written = given.cells.map((cell, k) => `${wanted.between[k]}${quote}${unquote(cell)}${quote}`)
  return `${written.join('')}${wanted.between.at(-1)}`
}

/** Undefined for empty brackets, nested ones of another depth, round brackets other than those of one tuple, and mixed separators. */
function parseLayout(text: string): Layout | undefined {
  if ((/[(){}]/.test(text) && !/^\([^(){}]*\)$/.test(text)) || /\[\s*\]/.test(text)) return undefined
  const depth = measureDepth(text)
  if (depth === undefined || depth > MAX_DEPTH) return undefined
  const cells: string[] = []
  const between: string[] = []
  const rows: number[] = []
  let end = 0
  for (const { 0: cell, index } of text.matchAll(CELL_PATTERN)) {
    const gap = text.slice(end, index)
    if (rows.length === 0 || isRowBreak(gap, depth)) rows.push(0)
    rows[rows.length - 1] = (rows.at(-1) ?? 0) + 1
    cells.push(cell)
    between.push(gap)
    end = index + cell.length
  }
  between.push(text.slice(end))
  const inner = new Set(between.slice(1, -1).map((gap) => (isRowBreak(gap, depth) ? 'row' : gap.trim())))
  inner.delete('row')
  return inner.size > 1 ? undefined : { cells, rows, between }
}

function isRowBreak(gap: string, depth: number): boolean {
  return gap.includes(']') || (depth < 2 && gap.includes('\n') && !gap.includes(',\n'))
}

/** Undefined where brackets do not match. */
function measureDepth(text: string): number | undefined {
  let [depth, deepest] = [0, 0]
  for (const sign of text) {
    if (sign === '[') deepest = Math.max(deepest, ++depth)
    else if (sign === ']' && --depth < 0) return undefined
  }
  return depth === 0 ? deepest : undefined
}

function unquote(cell: string): string {
  return /^(["']).*\1$/s.test(cell) ? cell.slice(1, -1) : cell
}
