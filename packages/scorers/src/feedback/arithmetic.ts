/** Expressions and equations: which numbers they use, and what they come to. */
import { evaluateExactly, tokenizeArithmetic } from '../hardened/expressions.ts'
import type { Fraction } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import {
  type AnswerCheck,
  brokenRule,
  createMultisetComparison,
  type Explainer,
  findMisfit,
  formatFault,
  quote,
  readPart,
  readQuestion,
  textAfter,
  type Violation,
} from './violation.ts'

export const countdown: Explainer = (question) => {
  const target = readPart(question, /(?:make|Calculate|that equals) (-?\d+)/)
  const numbers = readPart(question, /(?:these numbers:|all the numbers) ((?:\d+, )*\d+)/)
  return checkExpression(numbers.split(', '), BigInt(target))
}

export const puzzle24: Explainer = (question) =>
  checkExpression(readPart(question, /Make 24 using ([\d, ]+)\./).split(', '), 24n)

const CHARS_PER_NUMBER = 50

function checkExpression(numbers: readonly string[], target: bigint): AnswerCheck {
  const compare = createMultisetComparison(numbers)
  return (answer) => {
    const text = strip(answer)
    const tokens = text.length > CHARS_PER_NUMBER * numbers.length ? undefined : tokenizeArithmetic(text)
    const value = tokens && evaluateExactly(tokens)
    if (tokens === undefined || tokens.length === 0 || (value === undefined && !tokens.includes('/')))
      return formatFault(
        `The answer must be one expression of numbers, + - * / and brackets, but it is ${quote(answer)}.`,
      )
    const used = checkNumbers(compare(tokens.filter((part) => /^\d/.test(part))))
    if (used) return used
    if (value === undefined) return brokenRule('The expression is incomplete or divides by zero.')
    return value.numerator === target * value.denominator
      ? undefined
      : brokenRule(`The expression is worth ${formatFraction(value)}, not ${target}.`)
  }
}

function checkNumbers(difference: ReturnType<ReturnType<typeof createMultisetComparison>>): Violation | undefined {
  switch (difference?.kind) {
    case undefined:
      return undefined
    case 'foreign':
      return brokenRule(`The expression uses ${difference.part}, which is not one of the numbers.`)
    case 'repeated':
      return brokenRule(`The expression uses ${difference.part} more often than it is given.`)
    case 'missing':
      return brokenRule(`The expression does not use ${difference.part} as often as it is given.`)
  }
}

function formatFraction({ numerator: a, denominator: b }: Fraction): string {
  return a % b === 0n ? String(a / b) : `${a}/${b}`
}

export const cryptarithm: Explainer = (question) => {
  const lines =
    textAfter(question, 'cryptarithm:\n\n')
      .split('\n\n')[0]
      ?.match(/[A-Z]+/g) ?? []
  const letters = [...new Set(lines.join(''))]
  const mayLeadWithZero = !question.includes('No leading letter can be zero')
  return (answer) => {
    const digits = new Map<string, string>()
    for (const pair of strip(answer).split(',')) {
      const [found, letter = '', digit = ''] = /^([A-Z])=(\d)$/.exec(strip(pair)) ?? []
      if (found === undefined)
        return formatFault(
          `The answer must be like “A=1,B=2”, one letter and one digit each, but it has ${quote(pair)}.`,
        )
      if (digits.has(letter)) return brokenRule(`The letter ${letter} has two digits.`)
      digits.set(letter, digit)
    }
    return checkDigits(digits, letters, mayLeadWithZero ? [] : lines) ?? checkSum(lines, digits)
  }
}

function checkDigits(
  digits: ReadonlyMap<string, string>,
  letters: readonly string[],
  leading: readonly string[],
): Violation | undefined {
  const missing = letters.find((letter) => !digits.has(letter))
  if (missing !== undefined) return brokenRule(`The letter ${missing} has no digit.`)
  const holders = new Map<string, string>()
  for (const [letter, digit] of digits) {
    if (!letters.includes(letter)) return brokenRule(`The letter ${letter} is not in the puzzle.`)
    const other = holders.get(digit)
    if (other !== undefined) return brokenRule(`${other} and ${letter} have the same digit, ${digit}.`)
    holders.set(digit, letter)
  }
  const zero = leading.find((word) => digits.get(word[0] ?? '') === '0')
  return zero === undefined ? undefined : brokenRule(`${zero} starts with ${zero[0]}, which must not be 0.`)
}

function checkSum(words: readonly string[], digits: ReadonlyMap<string, string>): Violation | undefined {
  const values = words.map((word) => BigInt([...word].map((letter) => digits.get(letter)).join('')))
  const result = values.at(-1) ?? 0n
  const sum = values.slice(0, -1).reduce((a, b) => a + b, 0n)
  return sum === result
    ? undefined
    : brokenRule(`With these digits the sum is ${sum}, but ${words.at(-1)} is ${result}.`)
}

const EXPRESSION_CHARS = /^[\w\s+\-*/().^]+$/

/** An expression in the notation that the guidelines of the question name. */
function checkNotation(answer: string, variables: ReadonlySet<string>): Violation | undefined {
  const text = strip(answer)
  if (text.includes('^')) return formatFault('Exponents must be written with **, not with ^.')
  if (text === '' || !EXPRESSION_CHARS.test(text))
    return formatFault(`One expression alone is needed, but the answer is ${quote(answer)}.`)
  if (/\d[A-Za-z](?!\d)/.test(text) || /[)\d][(]/.test(text))
    return formatFault('All multiplications must be written with *.')
  let open = 0
  for (const sign of text) {
    if (sign === '(') open++
    else if (sign === ')' && --open < 0) break
  }
  if (open !== 0) return formatFault('The brackets of the expression do not match.')
  const strange = (text.match(/[A-Za-z]+/g) ?? []).find((name) => name.length === 1 && !variables.has(name))
  return strange === undefined ? undefined : brokenRule(`The variable ${strange} is not in the question.`)
}

export const polynomialMultiplication: Explainer = (question) => {
  const expression = readPart(question, /: (.*)\n/)
  const variables = new Set(expression.match(/[A-Za-z]/g) ?? [])
  return (answer) => {
    const fault = checkNotation(answer, variables)
    if (fault) return fault
    return /\)\s*\*|\*\s*\(/.test(answer) ? brokenRule('The answer still has a product of brackets.') : undefined
  }
}

/** C and E stand for the constant and Euler’s number. */
export const integration: Explainer = (question) => {
  const [integrand = '', variable = ''] = readQuestion(question, /∫ (.*) d([A-Za-z])\s*\n/)
  const names = integrand.match(/[A-Za-z]/g) ?? []
  const known = new Set([...names, variable, variable.toUpperCase(), 'C', 'E'])
  return (answer) => checkNotation(answer, known)
}

const COMPLEX = /^[+-]?(?:\d+(?:\.\d+)?(?: ?[+-] ?\d+(?:\.\d+)?[ij])?|\d+(?:\.\d+)?[ij])$/

export const complexArithmetic: Explainer = () => (answer) =>
  COMPLEX.test(strip(answer))
    ? undefined
    : formatFault(`A complex number such as 4.0 - 7.0i is needed, but the answer is ${quote(answer)}.`)

/** Empty where no real value solves the equation. */
export const polynomialEquations: Explainer = () => (answer) => {
  const text = strip(answer)
  if (text === '' || text === '""') return undefined
  const values = text.split(',').map((value) => strip(value))
  const isDecimal = (value: string) => /^-?\d+(?:\.\d+)?$/.test(value)
  return findMisfit(values, isDecimal, 'Decimal numbers with commas between them are needed', 'value')
}
