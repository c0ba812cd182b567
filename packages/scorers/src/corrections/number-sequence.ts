/** Number sequences: asked only where all short rules that fit the terms go on with the key. */
import type { Correction } from './correction.ts'

/** The next number by its own value and the one before it. */
type Step = (x: number, previous: number) => number

/** Fewer terms determine only a progression, a multiplication with an addition, or a sum of two terms. */
const MIN_TERMS = 5
const NUMBERS = Array.from({ length: 21 }, (_, k) => k - 10).filter((number) => number !== 0)
const ONE_TERM_STEPS: readonly Step[] = [
  ...NUMBERS.map(
    (number): Step =>
      (x) =>
        x + number,
  ),
  ...NUMBERS.map(
    (number): Step =>
      (x) =>
        x * number,
  ),
  (x) => x * x,
  (x) => Math.floor(x / 2),
]
const addPrevious: Step = (x, previous) => x + previous
const multiplyPrevious: Step = (x, previous) => x * previous
const COEFFICIENTS = [-3, -2, -1, 0, 1, 2, 3]

export const numberSequence: Correction = {
  reason: 'The terms of some sequences go on in several simple ways, or in none, so that no one number is right.',
  hasRightAnswer({ question, answer }) {
    const terms = (question.match(/-?\d+/g) ?? []).map(Number)
    return continuesOnlyWith(terms, Number(answer))
  },
}

function continuesOnlyWith(terms: readonly number[], key: number): boolean {
  const plain = [...listAffine(terms), ...listSteps(terms, [addPrevious])]
  if (plain.length === 0 && terms.length < MIN_TERMS) return false
  const all = [
    ...plain,
    ...listComposed(terms),
    ...listPairs(terms),
    ...listPolynomials(terms),
    ...listRecurrences(terms),
    ...listAlternating(terms),
  ]
  return all.length > 0 && all.every((next) => next === key)
}

/** The next terms by the steps that lead from each term to the next; without `first`, from the second term on. */
function listSteps(terms: readonly number[], steps: readonly Step[]): number[] {
  const next = (step: Step, k: number) => step(terms[k] ?? 0, terms[k - 1] ?? 0)
  const fits = (step: Step) => terms.every((term, k) => k < 2 || next(step, k - 1) === term)
  return steps.filter(fits).map((step) => next(step, terms.length - 1))
}

/** One operation, or two in a row. */
function listComposed(terms: readonly number[]): number[] {
  const [first = 0, second] = terms
  const after = ONE_TERM_STEPS.flatMap((one) => {
    const middle = one(first, 0)
    return ONE_TERM_STEPS.filter((other) => other(middle, 0) === second).map(
      (other): Step =>
        (x) =>
          other(one(x, 0), 0),
    )
  })
  const single = ONE_TERM_STEPS.filter((one) => one(first, 0) === second)
  const withPrevious = ONE_TERM_STEPS.flatMap((one): Step[] => [
    (x, previous) => one(x + previous, 0),
    (x, previous) => one(x, 0) + previous,
  ])
  const twice: Step = (x, previous) => x + 2 * previous
  return listSteps(terms, [...single, ...after, ...withPrevious, twice, multiplyPrevious])
}

/** Differences of a constant ratio, which may be a fraction. */
function listAffine(terms: readonly number[]): number[] {
  const differences = getDifferences(terms)
  const [first = 0, second = 0] = differences
  if (terms.length < 4 || first === 0) return []
  if (!differences.every((difference, k) => k === 0 || difference * first === (differences[k - 1] ?? 0) * second))
    return []
  return [(terms.at(-1) ?? 0) + ((differences.at(-1) ?? 0) * second) / first]
}

/** Small multiples of the last two terms. */
function listPairs(terms: readonly number[]): number[] {
  if (terms.length < 4) return []
  const steps = COEFFICIENTS.flatMap((a) =>
    COEFFICIENTS.filter((b) => b !== 0 && (a !== 0 || terms.length >= MIN_TERMS)).map(
      (b): Step =>
        (x, previous) =>
          a * x + b * previous,
    ),
  )
  return listSteps(terms, steps)
}

/** Differences, or differences of these, or of those again, that are constant. */
function listPolynomials(terms: readonly number[]): number[] {
  let row = terms
  let next = 0
  for (let degree = 1; degree <= 3 && terms.length >= degree + 2; degree++) {
    next += row.at(-1) ?? 0
    row = getDifferences(row)
    if (new Set(row).size === 1) return [next + (row[0] ?? 0)]
  }
  return []
}

/** Two terms times any numbers and a third number added: differences that are multiples of the two before them. */
function listRecurrences(terms: readonly number[]): number[] {
  const differences = getDifferences(terms)
  const [a = 0, b = 0, c = 0, d = 0] = differences
  const determinant = b * b - a * c
  if (terms.length < 6 || determinant === 0) return []
  const follow = (k: number) =>
    (b * c - a * d) * (differences[k - 1] ?? 0) + (b * d - c * c) * (differences[k - 2] ?? 0)
  if (differences.some((difference, k) => k >= 2 && follow(k) !== determinant * difference)) return []
  return [(terms.at(-1) ?? 0) + follow(differences.length) / determinant]
}

/** Two progressions by turns, or two differences by turns. */
function listAlternating(terms: readonly number[]): number[] {
  const differences = getDifferences(terms)
  const apart = terms.slice(2).map((term, k) => term - (terms[k] ?? 0))
  const found =
    terms.length >= MIN_TERMS && repeats(differences) ? [(terms.at(-1) ?? 0) + (differences.at(-2) ?? 0)] : []
  if (terms.length > MIN_TERMS && repeats(apart)) found.push((terms.at(-2) ?? 0) + (apart.at(-2) ?? 0))
  return found
}

function repeats(numbers: readonly number[]): boolean {
  return numbers.every((number, k) => k < 2 || number === numbers[k - 2])
}

function getDifferences(numbers: readonly number[]): number[] {
  return numbers.slice(1).map((number, k) => number - (numbers[k] ?? 0))
}
