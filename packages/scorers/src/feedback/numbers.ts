/** Numbers: divisors, factors, fractions, equations, dates and times. */
import { getCommonDivisor } from '../expressions/numbers.ts'
import { lower, strip } from '../python/text.ts'
import { choiceAnswer, integerAnswer, numberAnswer, patternAnswer } from './forms.ts'
import { brokenRule, type Explainer, formatFault, quote, readPart, readQuestion } from './violation.ts'

export const gcd: Explainer = (question) => {
  const numbers = readPart(question, /of these numbers: ([\d, ]+)/)
    .split(', ')
    .map(BigInt)
  return integerAnswer((value) => {
    if (value < 1n) return brokenRule(`A greatest common divisor is at least 1, but the answer is ${value}.`)
    const other = numbers.find((number) => number % value !== 0n)
    return other === undefined ? undefined : brokenRule(`${value} does not divide ${other}.`)
  })
}

export const lcm: Explainer = (question) => {
  const numbers = readPart(question, /of these numbers: ([\d, ]+)/)
    .split(', ')
    .map(BigInt)
  return integerAnswer((value) => {
    if (value < 1n) return brokenRule(`A least common multiple is at least 1, but the answer is ${value}.`)
    const other = numbers.find((number) => value % number !== 0n)
    return other === undefined ? undefined : brokenRule(`${value} is not a multiple of ${other}.`)
  })
}

export const primeFactorization: Explainer = (question) => {
  const number = BigInt(readPart(question, /prime factorization of (\d+)/))
  return patternAnswer(/^\d{1,15}(?: × \d{1,15})*$/, 'factors separated by ×', (text) => {
    const factors = text.split(' × ').map(Number)
    const composite = factors.findIndex((factor) => !isPrime(factor))
    if (composite >= 0) return brokenRule(`${factors[composite]} is not a prime number.`, { item: composite + 1 })
    const product = factors.reduce((result, factor) => (result > number ? result : result * BigInt(factor)), 1n)
    return product === number ? undefined : brokenRule(`The product of the factors is not ${number}.`)
  })
}

/** By trial division up to 10^6; a larger number without a small factor passes, because to be sure would take too long. */
function isPrime(value: number): boolean {
  if (value < 2) return false
  for (let factor = 2; factor * factor <= value && factor <= 1_000_000; factor += factor === 2 ? 1 : 2)
    if (value % factor === 0) return false
  return true
}

const FRACTION = /^\$?(?:\\d?frac\{(\d{1,40})\}\{(\d{1,40})\}|(\d{1,40})\/(\d{1,40}))\$?$/

export const fractionSimplification: Explainer = (question) => {
  const [top, bottom] = parseFraction(readPart(question, /Simplify the fraction (\S+) to its/))
  return (answer) => {
    const text = strip(answer)
    if (!FRACTION.test(text))
      return formatFault(`The answer must be a fraction such as 3/4, but it is ${quote(answer)}.`)
    const [over, under] = parseFraction(text)
    if (under === 0n) return brokenRule('The denominator is 0.')
    if (over * bottom !== top * under) return brokenRule(`${over}/${under} is not equal to ${top}/${bottom}.`)
    const shared = getCommonDivisor(over, under)
    return shared === 1n ? undefined : brokenRule(`${over}/${under} can be reduced by ${shared}.`)
  }
}

function parseFraction(text: string): [top: bigint, bottom: bigint] {
  const [, a, b, c, d] = FRACTION.exec(text) ?? []
  return [BigInt(a ?? c ?? 0), BigInt(b ?? d ?? 1)]
}

/** Tries the value in the equation, whose sides are sums of numbers and multiples of the unknown. */
export const simpleEquations: Explainer = (question) => {
  const [left = '', right = ''] = readQuestion(question, /: (.*) = (.*)$/)
  const name = readPart(question, /(?:value of|Solve for) ([a-z])\b/)
  return integerAnswer((value) => {
    const [a, b] = [evaluateSum(left, name, value), evaluateSum(right, name, value)]
    return a === b
      ? undefined
      : brokenRule(`With ${name} = ${value}, the left side is ${a} and the right side is ${b}.`)
  })
}

function evaluateSum(text: string, name: string, value: bigint): bigint {
  let [sum, sign] = [0n, 1n]
  for (const part of strip(text).split(' ')) {
    if (part === '+' || part === '-') sign = part === '-' ? -1n : 1n
    else
      sum +=
        sign *
        part
          .split('*')
          .reduce(
            (product, factor) => product * (factor === name ? value : factor === `-${name}` ? -value : BigInt(factor)),
            1n,
          )
  }
  return sum
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

export const calendarArithmetic: Explainer = (question) => {
  if (/\bleap\b/.test(question)) return choiceAnswer('Yes', 'No')
  if (/\b(?:number|numerically|numerical)\b/.test(question)) return integerAnswer()
  return (answer) =>
    WEEKDAYS.includes(lower(strip(answer)))
      ? undefined
      : formatFault(`A weekday is needed, but the answer is ${quote(answer)}.`)
}

const TIME_PARTS: Readonly<Record<string, string>> = {
  HH: '\\d{2,}',
  MM: '\\d{2}',
  SS: '\\d{2}',
  mmm: '\\d{3}',
  D: '\\d+',
}

export const timeIntervals: Explainer = (question) => {
  const form = readPart(question, /\bin ((?:D days|HH:)[^ .]*(?:,? HH:[A-Z:]*)?(?:\.mmm)?)\.?$/)
  const pattern = form.replaceAll('.', '\\.').replaceAll(/HH|MM|SS|mmm|D(?= )/g, (part) => TIME_PARTS[part] ?? '')
  return patternAnswer(new RegExp(`^${pattern}$`), `in the form ${form}`)
}

export const advancedGeometry: Explainer = (question) => {
  const task = question.split('. For all geometry')[0] ?? ''
  if (/orthocenter/.test(task)) return patternAnswer(/^\(-?[\d.]+, ?-?[\d.]+\)$/, 'coordinates in the form (x, y)')
  if (/\bangle\b/.test(task)) return patternAnswer(/^-?\d+(?:\.\d+)?°?$/, 'an angle such as 45.00°')
  return numberAnswer()
}
