/** The forms of answers that many questions ask for. Each takes the rules that an answer of that form must keep. */
import { parseLiteral } from '../python/literal.ts'
import { catchPythonError } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { type AnswerCheck, count, formatFault, QuestionError, quote, type Violation } from './violation.ts'

const INTEGER_PATTERN = /^-?\d+$/
const NUMBER_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** Texts that are read as numbers or grids are no longer than this. */
const MAX_DIGITS = 1000

export function isInteger(text: string): boolean {
  return INTEGER_PATTERN.test(text) && text.length <= MAX_DIGITS
}

export function isNumber(text: string): boolean {
  return NUMBER_PATTERN.test(text)
}

/** An integer and nothing else. */
export function integerAnswer(check?: (value: bigint) => Violation | undefined): AnswerCheck {
  return (answer) => {
    const text = strip(answer)
    if (!isInteger(text)) return formatFault(`An integer alone is needed, but the answer is ${quote(answer)}.`)
    return check?.(BigInt(text))
  }
}

/** A number and nothing else. */
export function numberAnswer(check?: (value: number, text: string) => Violation | undefined): AnswerCheck {
  return (answer) => {
    const text = strip(answer)
    if (!isNumber(text)) return formatFault(`A number alone is needed, but the answer is ${quote(answer)}.`)
    return check?.(Number(text), text)
  }
}

/** One of some words, written as the question writes them. */
export function choiceAnswer(...words: string[]): AnswerCheck {
  const listed = words.map((word) => `\`${word}\``)
  const either = `${listed.slice(0, -1).join(', ')} or ${listed.at(-1) ?? ''}`
  return (answer) =>
    words.includes(strip(answer)) ? undefined : formatFault(`The answer must be ${either}, but it is ${quote(answer)}.`)
}

/** A text that matches a pattern; `form` says which, as in “a weekday”. */
export function patternAnswer(
  pattern: RegExp,
  form: string,
  check?: (text: string) => Violation | undefined,
): AnswerCheck {
  return (answer) => {
    const text = strip(answer)
    if (!pattern.test(text)) return formatFault(`The answer must be ${form}, but it is ${quote(answer)}.`)
    return check?.(text)
  }
}

/** What a grid consists of. */
export interface GridForm {
  /** Undefined where the question does not give the size. */
  rows?: number
  columns?: number
  /** Anchored at both ends. */
  cell: RegExp
  /** A cell in a sentence, such as `number`. */
  noun: string
}

/** Rows on lines, cells with one space between them. */
export function gridAnswer(form: GridForm, check?: (grid: string[][]) => Violation | undefined): AnswerCheck {
  const { cell, noun } = form
  const one = cell.source.slice(1, -1)
  const line = new RegExp(`^${one}(?: ${one})*$`, cell.flags)
  return (answer) => {
    const lines = strip(answer).split('\n')
    const grid: string[][] = []
    let columns = form.columns
    for (const [i, text] of lines.entries()) {
      const where = { row: i + 1 }
      const row = text.split(' ')
      columns ??= row.length
      const strange = line.test(text) ? -1 : row.findIndex((part) => !cell.test(part))
      if (strange >= 0)
        return formatFault(
          `Each row must have ${noun}s with one space between them, but row ${i + 1} is ${quote(text)}.`,
          { ...where, column: strange + 1 },
        )
      if (row.length !== columns)
        return formatFault(`Row ${i + 1} has ${count(row.length, noun)}, but it needs ${columns}.`, where)
      if (form.rows !== undefined && i >= form.rows)
        return formatFault(`The grid must have ${count(form.rows, 'row')}, but it has ${lines.length}.`, where)
      grid.push(row)
    }
    if (form.rows !== undefined && grid.length < form.rows)
      return formatFault(`The grid must have ${count(form.rows, 'row')}, but it has ${grid.length}.`)
    return check?.(grid)
  }
}

/** The lines of a question that are a grid: the last ones in a row that have only such cells. */
export function readGrid(text: string, cell: RegExp): string[][] {
  const rows: string[][] = []
  for (const line of text.split('\n').reverse()) {
    const row = strip(line).split(/ +/)
    if (row.every((part) => cell.test(part))) rows.unshift(row)
    else if (rows.length > 0) break
  }
  if (rows.length === 0) throw new QuestionError('no grid in the question')
  return rows
}

export const DIGITS = /^-?\d+$/

/** A JSON value of a shape that `check` decides on. */
export function jsonAnswer(form: string, check: (value: unknown) => Violation | 'other' | undefined): AnswerCheck {
  return parsedAnswer(form, parseJson, check)
}

/** V8 reads JSON ten times as fast as the imitation of Python, and a scorer has read the answer before. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Lists that need no parser of Python’s literals. */
const PLAIN_LIST_PATTERN = /^\['[^'"\\]*'(?:, '[^'"\\]*')*\]$/

/** A Python list of texts, in either kind of quotes. */
export function textListAnswer(form: string, check: (items: string[]) => Violation | undefined): AnswerCheck {
  return parsedAnswer(
    form,
    (text) =>
      PLAIN_LIST_PATTERN.test(text)
        ? text.slice(2, -2).split("', '")
        : catchPythonError(() => parseLiteral(text), undefined),
    (value) => (isTextList(value) ? check(value) : 'other'),
  )
}

/** The error of a parser takes many times as long. */
const LIST_OR_MAP_PATTERN = /^(?:\[.*\]|\{.*\})$/s

/** Most of the time that an unreadable text takes is that of the stack of its error. */
function parseWithoutStack(parse: (text: string) => unknown, text: string): unknown {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return parse(text)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function parsedAnswer(
  form: string,
  parse: (text: string) => unknown,
  check: (value: unknown) => Violation | 'other' | undefined,
): AnswerCheck {
  return (answer) => {
    const text = strip(answer)
    const value = LIST_OR_MAP_PATTERN.test(text) ? parseWithoutStack(parse, text) : undefined
    const found = value === undefined ? 'other' : check(value)
    return found === 'other' ? formatFault(`The answer must be ${form}, but it is ${quote(answer)}.`) : found
  }
}

export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
