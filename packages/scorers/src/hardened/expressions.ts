/** Expressions: countdown and 24 are read strictly, use every number once and are worth the target exactly; products are multiplied out. */
import { z } from 'zod'
import { add, divide, multiply, readDecimal, subtract } from '../corrections/rounding.ts'
import type { Fraction } from '../python/numbers.ts'
import { type HardenedScorer, isFullScore, scoreBestReading } from './hardened-scorer.ts'
import { getBareAnswer } from './notations.ts'

/** A text longer than this for each number holds more than numbers, operators and brackets. */
const CHARS_PER_NUMBER = 50
const MAX_DIGITS = 16 // of 2^53
const ALL_OPERATORS = '+-*/'
const TOKEN_PATTERN = /\s*(?:(\d+)|([-+*/()]))/y
const PRECEDENCE: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '~': 3 }
const OPERATOR_SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [/\\times|\\cdot|[×·]/g, '*'],
  [/\\div|÷/g, '/'],
  [/\\left|\\right/g, ''],
  [/−/g, '-'],
]

/** The operators that a question of puzzle24 allows. */
export const OPERATORS_PATTERN = /You can use the operators ([-+*/, ]+)\.\n/

const CountdownMetadata = z.looseObject({ numbers: z.array(z.int()), target: z.int() })

export const countdown: HardenedScorer = ({ entry }) => {
  const { numbers, target } = CountdownMetadata.parse(entry.metadata)
  return (answer) => scoreArithmetic(getBareAnswer(answer), numbers, target)
}

export const puzzle24: HardenedScorer = ({ entry }) => {
  const { numbers } = CountdownMetadata.omit({ target: true }).parse(entry.metadata)
  const allowed = OPERATORS_PATTERN.exec(entry.question)?.[1] ?? ALL_OPERATORS
  return (answer) => scoreArithmetic(getBareAnswer(answer), numbers, 24, allowed)
}

const PRODUCT_PATTERN = /\)\s*\*|\)\s*\(|(?<!\*)\*\s*\(|\//
const POWER_SOURCE = '[A-Za-z](?:\\*\\*\\d+)?'
const POWER_PATTERN = new RegExp(POWER_SOURCE, 'g')
const REPEATED_VARIABLE_PATTERN = /([A-Za-z]).*\1/
/** A number, powers of variables, or both with the number at either end. */
const MONOMIAL_PATTERN = new RegExp(`^(?:\\d+|(?:\\d+\\*)?${POWER_SOURCE}(?:\\*${POWER_SOURCE})*(?:\\*\\d+)?)$`)

/** Multiplied out and collected: to the library `2*(x + 1)`, as in the question, and `x + x + 2` equal `2*x + 2`. */
export const polynomialMultiplication: HardenedScorer = ({ upstream }) => {
  return scoreBestReading((reading) => {
    const isSum = !PRODUCT_PATTERN.test(reading) && !CHOICE_PATTERN.test(reading) && isCollected(reading)
    return isSum && isFullScore(upstream(reading)) ? 1 : 0
  })
}

/** Whether each term is a number times powers, and no two have the same powers. */
function isCollected(text: string): boolean {
  const terms = text
    .replaceAll(/[\s()]/g, '')
    .split(/[+-]/)
    .filter(Boolean)
  const powers = terms.map((term) => (term.match(POWER_PATTERN) ?? []).toSorted().join('*'))
  const areMonomials = terms.every((term) => MONOMIAL_PATTERN.test(term) && !REPEATED_VARIABLE_PATTERN.test(term))
  return areMonomials && new Set(powers).size === terms.length
}

/** The library evaluates `F or G` as Python does, to the first of two guesses. */
const CHOICE_PATTERN = /\b(?:or|and|not|if|else|in|is)\b/

/** The library's score of one expression. */
export const integration: HardenedScorer = ({ upstream }) => {
  const score = scoreBestReading(upstream)
  return (answer) => (CHOICE_PATTERN.test(answer) ? 0 : score(answer))
}

function scoreArithmetic(text: string, numbers: readonly number[], target: number, allowed = ALL_OPERATORS): number {
  if (text.length > CHARS_PER_NUMBER * numbers.length) return 0
  const tokens = tokenizeArithmetic(
    OPERATOR_SYNONYMS.reduce((plain, [sign, standard]) => plain.replaceAll(sign, standard), text),
  )
  if (tokens === undefined || tokens.some((part) => ALL_OPERATORS.includes(part) && !allowed.includes(part))) return 0
  const used = tokens.filter((part) => /^\d/.test(part)).map(Number)
  if (used.toSorted(ascending).join() !== numbers.toSorted(ascending).join()) return 0
  const value = evaluateExactly(tokens)
  return value !== undefined && value.numerator === BigInt(target) * value.denominator ? 1 : 0
}

function ascending(a: number, b: number): number {
  return a - b
}

/** Numbers without leading zeros, operators and brackets; `~` is a sign before a number or bracket. */
export function tokenizeArithmetic(text: string): string[] | undefined {
  const tokens: string[] = []
  const end = text.trimEnd().length
  for (TOKEN_PATTERN.lastIndex = 0; TOKEN_PATTERN.lastIndex < end; ) {
    const [, digits, sign] = TOKEN_PATTERN.exec(text) ?? []
    if (digits !== undefined && digits.length <= MAX_DIGITS && (digits === '0' || digits[0] !== '0')) {
      tokens.push(digits)
    } else if (sign !== undefined) {
      const prefix = '+-'.includes(sign) && /^(?:|[-+*/(~])$/.test(tokens.at(-1) ?? '')
      if (!prefix) tokens.push(sign)
      else if (sign === '-') tokens.push('~')
    } else return undefined
  }
  return tokens
}

const OPERATIONS: Readonly<Record<string, (a: Fraction, b: Fraction) => Fraction>> = {
  '+': add,
  '-': subtract,
  '~': subtract,
  '*': multiply,
  '/': divide,
}

/**
 * The exact value by two stacks, or that with the result of each operation rounded; undefined for what is no expression and for a
 * division by zero.
 */
export function evaluateExactly(
  tokens: readonly string[],
  round = (value: Fraction): Fraction => value,
): Fraction | undefined {
  const [values, operators]: [Fraction[], string[]] = [[], []]
  const reduce = (strength: number) => reduceOperators(values, operators, strength, round)
  let wantsOperand = true
  for (const part of tokens) {
    const isOperand = /^\d/.test(part)
    if (wantsOperand !== (isOperand || part === '(' || part === '~')) return undefined
    if (isOperand) {
      const read = readDecimal(part)
      if (read === undefined) return undefined
      values.push(read.value)
    } else if (part === ')') {
      if (!reduce(0) || operators.pop() !== '(') return undefined
    } else {
      if (part !== '(' && part !== '~' && !reduce(PRECEDENCE[part] ?? 0)) return undefined
      operators.push(part)
    }
    wantsOperand = !(isOperand || part === ')')
  }
  if (wantsOperand || !reduce(0) || operators.length > 0) return undefined
  return values[0]
}

/** Works off the operators on top that bind at least as strongly; false where that cannot be done. */
function reduceOperators(
  values: Fraction[],
  operators: string[],
  strength: number,
  round: (value: Fraction) => Fraction,
): boolean {
  for (let last = operators.at(-1); last !== undefined && last !== '('; last = operators.at(-1)) {
    if ((PRECEDENCE[last] ?? 0) < strength) break
    operators.pop()
    const right = values.pop()
    const left = last === '~' ? { numerator: 0n, denominator: 1n } : values.pop()
    const value = left && right && OPERATIONS[last]?.(left, right)
    if (!value || value.denominator === 0n) return false
    values.push(round(value))
  }
  return true
}
