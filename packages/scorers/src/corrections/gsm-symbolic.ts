/** gsm_symbolic: stories that do not come out even, keys that are cut from a float, and words with two readings. */
import { requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

interface Story {
  /** Words that no other story has. */
  phrase: string
  /** From the numbers of the story in their order; NaN where no answer is right. */
  compute(...numbers: number[]): number
}

/** The stories whose key may be wrong. Amounts of money are counted in cents, for floats hold no tenths. */
const STORIES: readonly Story[] = [
  { phrase: 'are leaving early?', compute: (n, p, q) => requireWhole((100 * n * p + n * (100 - p) * q) / 10_000) },
  { phrase: ' was a pen pal ', compute: (n, lost, letters, pages, time) => ((n - lost) * letters * pages * time) / 60 },
  { phrase: ' to use up all of her ', compute: (jars, each, size) => requireWhole((jars * each) / size) },
  { phrase: ' saw the Comet for the first ', compute: (years, age, times) => requirePositive(age * times - years) },
  { phrase: ' sliced an ', compute: (n, a, b, c) => (3 * a + 2 * b + c <= n ? 3 * a + 2 * b + c : Number.NaN) },
  { phrase: ' of all mentioned colors ', compute: (n, p) => (2 * (100 * n + n * (100 + p))) / 100 },
  {
    phrase: 'The vending machines ',
    compute: (a, b, total, n, left) => requireWhole((total * (100 - left) - n * a) / b),
  },
  { phrase: ' favorite walking trail', compute: (_, beach, side, time) => time + (side * time) / (2 * beach) },
  { phrase: ' tubes of paint does ', compute: (n, m) => requireWhole(n / 2 + 3 * m) },
  {
    phrase: ' to the nearest dollar',
    compute: (a, b, c, n, m, k) => n * roundDollars(a) + m * roundDollars(b) + k * roundDollars(c),
  },
  { phrase: ' wants to buy ', compute: (money, n, price) => (toCents(money) - n * toCents(price)) / 100 },
]

/** What the words leave open, in the favor of the key. */
const NOTES: readonly [words: RegExp, note: (question: string) => string | undefined][] = [
  [
    / can peel | minutes to finish a |waterslide| minutes to walk to |^When the water is cold/,
    () => 'the answer is in minutes',
  ],
  [/ times the number of boys /, (question) => (canBeFewer(question) ? 'there are more boys than girls' : undefined)],
  [
    /^The vending machines /,
    (question) => `${/spent (\D\d+)/.exec(question)?.[1]} is all the money that he had at first`,
  ],
  [/ finished half of a .* puzzle/, () => 'the half puzzle was done in that hour, too'],
  [/-sided die\. How much more likely /, () => 'the answer is the difference in percentage points'],
  [/^According to its nutritional info/, (question) => (isBagTooSmall(question) ? 'there are enough bags' : undefined)],
  [/ does this family eat in one month\?/, () => 'a month has 30 days'],
]

/** A third of an hour is right with any of these. */
const PLACES = [2, 3, 4]

export const gsmSymbolic: Correction = {
  reason:
    'Some stories count parts of persons or things, some keys are cut from a float or are rounded to even, and some ' +
    'questions have two readings.',
  keys({ entry }) {
    const value = compute(entry.question)
    if (value === undefined || Number.isNaN(value) || value === Number(requireOracleAnswer(entry))) return undefined
    return Number.isInteger(value) ? [String(value)] : PLACES.map((count) => value.toFixed(count))
  },
  hasRightAnswer: ({ question }) => !Number.isNaN(compute(question) ?? 0),
  clarification({ question }) {
    const note = NOTES.find(([words]) => words.test(question))?.[1](question)
    return note === undefined ? undefined : `Note: ${note}.`
  },
}

/** Undefined for the stories whose keys are right. */
function compute(question: string): number | undefined {
  return STORIES.find(({ phrase }) => question.includes(phrase))?.compute(...readNumbers(question))
}

function readNumbers(question: string): number[] {
  return (question.match(/\d+(?:\.\d+)?/g) ?? []).map(Number)
}

/** Girls may also be so many times the boys, where that comes out even. */
function canBeFewer(question: string): boolean {
  const [girls = 0, times = 1] = readNumbers(question)
  return girls % times === 0
}

function isBagTooSmall(question: string): boolean {
  const [calories = 1, , servings = 0, target = 0, eaten = 0] = readNumbers(question)
  return (target - eaten) / calories > servings
}

function requireWhole(value: number): number {
  return Number.isInteger(value) ? value : Number.NaN
}

function requirePositive(value: number): number {
  return value >= 0 ? value : Number.NaN
}

function roundDollars(price: number): number {
  return Math.floor((toCents(price) + 50) / 100)
}

function toCents(amount: number): number {
  return Math.round(100 * amount)
}
