/** Numbers: divisors, factors, fractions, and what a count can be at most and at least. */
import { lower, strip } from '../python/text.ts'
import { choiceAnswer, integerAnswer, numberAnswer, patternAnswer, readGrid } from './forms.ts'
import {
  type AnswerCheck,
  brokenRule,
  count,
  type Explainer,
  formatFault,
  quote,
  readPart,
  readQuestion,
  type Violation,
} from './violation.ts'

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

/** A count that can be from `least` to `most`; `limit` says why. */
export function countAnswer(least: bigint, most: bigint, limit: string): AnswerCheck {
  return integerAnswer((value) =>
    value < least || value > most ? brokenRule(`The answer is ${value}, but ${limit}.`) : undefined,
  )
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
    return checkReduced(over, under)
  }
}

function parseFraction(text: string): [top: bigint, bottom: bigint] {
  const [, a, b, c, d] = FRACTION.exec(text) ?? []
  return [BigInt(a ?? c ?? 0), BigInt(b ?? d ?? 1)]
}

function checkReduced(top: bigint, bottom: bigint): Violation | undefined {
  const [shared] = euclid(top, bottom)
  return shared === 1n ? undefined : brokenRule(`${top}/${bottom} can be reduced by ${shared}.`)
}

function euclid(a: bigint, b: bigint): [bigint] {
  return b === 0n ? [a] : euclid(b, a % b)
}

export const dice: Explainer = (question) => {
  const ways = [...readPart(question, /these dice: (.*?)\. What/).matchAll(/\dd(\d+)/g)].reduce(
    (n, [, sides = '1']) => n * BigInt(sides),
    1n,
  )
  return patternAnswer(/^\d{1,40}\/\d{1,40}$/, 'a fraction such as 1/60', (text) => {
    const [top = 0n, bottom = 0n] = text.split('/').map(BigInt)
    if (bottom === 0n) return brokenRule('The denominator is 0.')
    if (top > bottom) return brokenRule(`${text} is more than 1, and a probability is not.`)
    if (ways % bottom !== 0n && checkReduced(top, bottom) === undefined)
      return brokenRule(`The dice can fall in ${ways} ways, and ${bottom} does not divide that.`)
    return checkReduced(top, bottom)
  })
}

export const probability: AnswerCheck = numberAnswer((value, text) =>
  value < 0 || value > 1 ? brokenRule(`${text} is not between 0 and 1, and a probability is.`) : undefined,
)

export const countBits: Explainer = (question) => {
  const number = BigInt(readPart(question, /of the number (\d+)/))
  const digits = number.toString(2).length
  return countAnswer(
    number > 0n ? 1n : 0n,
    BigInt(digits),
    `the number has ${digits} binary digits, and the first is 1`,
  )
}

export const countPrimes: Explainer = (question) => {
  const [from = 0n, to = 0n] = readQuestion(question, /between (\d+) and (\d+)/).map(BigInt)
  return countAnswer(0n, to - from + 1n, `the range has ${to - from + 1n} numbers`)
}

export const letterCounting: Explainer = (question) => {
  const text = readPart(question, /in the text: "(.*)"\?/s)
  return countAnswer(0n, BigInt(text.length), `the text has ${count(text.length, 'character')}`)
}

export const largestIsland: Explainer = (question) => {
  const land = readGrid(question, /^[01]$/)
    .flat()
    .filter((cell) => cell === '1').length
  return countAnswer(land > 0 ? 1n : 0n, BigInt(land), `the grid has ${count(land, 'cell')} of land`)
}

export const rottenOranges: Explainer = (question) => {
  const fresh = readGrid(question, /^[012]$/)
    .flat()
    .filter((cell) => cell === '1').length
  return countAnswer(
    -1n,
    BigInt(fresh),
    `the grid has ${count(fresh, 'fresh orange')}, and -1 means that it is impossible`,
  )
}

export const binaryAlternation: Explainer = (question) => {
  const { length } = readPart(question, /string alternating: ([01]+)/)
  return countAnswer(
    -1n,
    BigInt(length),
    `the string has ${count(length, 'character')}, and -1 means that it is impossible`,
  )
}

/** No path is shorter than the distance without walls, and each step changes whether the distance is even. */
export const maze: Explainer = (question) => {
  const [start = '', goal = ''] = readQuestion(question, /from '(.)' \(start\) to '(.)' \(goal\)/)
  const rows = readPart(question, /```\n([^`]*)```/).split('\n')
  const find = (sign: string) => {
    const row = rows.findIndex((line) => line.includes(sign))
    return [row, rows[row]?.indexOf(sign) ?? 0] as const
  }
  const [[top, left], [bottom, right]] = [find(start), find(goal)]
  const distance = BigInt(Math.abs(top - bottom) + Math.abs(left - right))
  return integerAnswer((value) => {
    if (value < distance)
      return brokenRule(`The goal is ${distance} steps away even without walls, but the answer is ${value}.`)
    return (value - distance) % 2n === 0n
      ? undefined
      : brokenRule(
          `Every way to the goal has an ${distance % 2n === 0n ? 'even' : 'odd'} number of steps, but the answer is ${value}.`,
        )
  })
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

export const simpleGeometry: Explainer = (question) => {
  const angles = readPart(question, /angles are: ([\d.°, ]+)/)
    .split(', ')
    .map((angle) => Number.parseFloat(angle))
  const total = (angles.length - 1) * 180
  return numberAnswer((value) => {
    const sum = angles.reduce((a, b) => a + b, value)
    return Math.abs(sum - total) < 1e-6
      ? undefined
      : brokenRule(
          `The angles then sum to ${sum}°, but those of a polygon with ${angles.length + 1} sides sum to ${total}°.`,
        )
  })
}

export const baseConversion: Explainer = (question) => {
  const target = readPart(question, /to (base-\d+|binary|hexadecimal)\s*$/)
  const base = target === 'binary' ? 2 : target === 'hexadecimal' ? 16 : Number(target.slice('base-'.length))
  return patternAnswer(/^[0-9a-z]+$/, 'digits and lowercase letters alone', (text) => {
    const strange = [...text].findIndex((digit) => Number.parseInt(digit, 36) >= base)
    return strange < 0
      ? undefined
      : brokenRule(`${text[strange]} is not a digit in base ${base}.`, { item: strange + 1 })
  })
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
