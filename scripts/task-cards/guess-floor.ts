/**
 * The guess floor: the mean score of the best guess. Most guesses are dropped on other items than those of the mean, so that the
 * best of many is not the luckiest of many.
 */
import type { TaskCard } from '@reasoning-gym-server/contract/task'
import { NATIVE_TASKS } from '@reasoning-gym-server/scorers/native-scorers'
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import type { HardenedItem } from '../../src/grading/hardened-item.ts'
import { buildStrategies, type ReferenceItem, type Strategy } from '../../verification/reward-hacks/strategies.ts'

export type Scoring = keyof TaskCard['guess_floor']

export interface GuessFloor {
  name: string
  mean: number
  stderr: number
}

export async function measureGuessFloor(
  guesses: readonly Strategy[],
  { screened, measured, kept }: { screened: readonly HardenedItem[]; measured: readonly HardenedItem[]; kept: number },
  scoring: Scoring,
): Promise<GuessFloor> {
  const screening = await scoreGuesses(guesses, screened, scoring)
  const order = guesses.map((guess, k) => ({ guess, mean: computeMean(screening[k] ?? []) }))
  const best = order
    .toSorted((a, b) => b.mean - a.mean)
    .slice(0, kept)
    .map(({ guess }) => guess)
  const scores = await scoreGuesses(best, measured, scoring)
  return best
    .map(({ name }, k) => ({ name, mean: computeMean(scores[k] ?? []), stderr: computeStderr(scores[k] ?? []) }))
    .reduce((top, guess) => (guess.mean > top.mean ? guess : top))
}

/** A prior of less may be luck. */
const MIN_PRIOR = 0.02

/** The most common right answer is a guess too, and known from more items. */
export function raiseToPrior(floor: GuessFloor, prior: number, items: number): GuessFloor {
  if (prior <= floor.mean || prior < MIN_PRIOR) return floor
  return { name: 'most common right answer', mean: prior, stderr: Math.sqrt((prior * (1 - prior)) / items) }
}

/** For each guess its score on each item. */
async function scoreGuesses(guesses: readonly Strategy[], items: readonly HardenedItem[], scoring: Scoring) {
  const scores: number[][] = guesses.map(() => [])
  for (const item of items) {
    const answers = guesses.map((guess) => guess.answer(item.question))
    const different = [...new Set(answers)]
    const scored = await scoreAnswers(item, different, scoring)
    const byAnswer = new Map(different.map((answer, k) => [answer, scored[k] ?? 0]))
    for (const [k, answer] of answers.entries()) scores[k]?.push(byAnswer.get(answer) ?? 0)
  }
  return scores
}

/** Clamped to [0, 1]. */
export async function scoreAnswers(
  item: HardenedItem,
  answers: readonly string[],
  scoring: Scoring,
): Promise<number[]> {
  const scores = scoring === 'upstream' ? await item.scoreUpstream(answers) : await item.score(answers)
  return scores.map((score) => Math.min(1, Math.max(0, score)))
}

export function computeMean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** At least one item's share, since equal scores of few items do not mean that all are equal. */
export function computeStderr(scores: readonly number[]): number {
  const mean = computeMean(scores)
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0)
  return Math.max(Math.sqrt(squares) / scores.length, 1 / (scores.length + 1))
}

/** Few where a Python worker scores them. */
const RANDOM_TEXTS = { native: 60, library: 10 }

const SUMS = ['echo: sum', 'echo: sum of the last two numbers', 'echo: difference of the last two numbers']

/** Guesses that solve a task, at least on its easy rungs. */
const SOLUTIONS: Readonly<Record<string, readonly string[]>> = {
  basic_arithmetic: SUMS,
  chain_sum: SUMS,
  decimal_arithmetic: SUMS,
  decimal_chain_sum: SUMS,
  spell_backward: ['echo: characters behind the last colon reversed'],
  word_sequence_reversal: ['echo: list behind the colon moved by one'],
}

/**
 * Answers made without solving: the search of `npm run verify -- reward-hacks`, more echoes of the question, and the right
 * answer of another item. A guess that is the algorithm itself (the sum, in a task of sums) is no guess there and is left out.
 */
export function buildGuesses(task: string, others: readonly ReferenceItem[], seed: number): Strategy[] {
  const solutions = SOLUTIONS[task] ?? []
  return [
    ...buildStrategies(task, others, RANDOM_TEXTS[NATIVE_TASKS.has(task) ? 'native' : 'library'], seed),
    ...buildNumberEchoes(),
    ...buildTextEchoes(),
    buildBorrowedAnswer(others, seed),
  ].filter(({ name }) => !solutions.includes(name))
}

/** A right answer of some other item: a random one of the right form. */
function buildBorrowedAnswer(others: readonly ReferenceItem[], seed: number): Strategy {
  const random = seededRandom(seed)
  const answers = others.flatMap(({ answer }) => (answer === null ? [] : [answer]))
  return { name: 'right answer of another item', answer: () => answers[Math.floor(random() * answers.length)] ?? '' }
}

function buildNumberEchoes(): Strategy[] {
  const ways: Record<string, (numbers: number[]) => number | undefined> = {
    sum: (numbers) => numbers.reduce((sum, value) => sum + value, 0),
    'last number plus one': (numbers) => (numbers.at(-1) ?? 0) + 1,
    'last number but one': (numbers) => numbers.at(-2),
    'sum of the last two numbers': (numbers) => (numbers.at(-2) ?? 0) + (numbers.at(-1) ?? 0),
    'difference of the last two numbers': (numbers) => (numbers.at(-2) ?? 0) - (numbers.at(-1) ?? 0),
    'last number minus one': (numbers) => (numbers.at(-1) ?? 0) - 1,
    'last number but two': (numbers) => numbers.at(-3),
    'second number': (numbers) => numbers[1],
    'third number': (numbers) => numbers[2],
    'median number': (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)],
    'largest minus smallest number': (numbers) => Math.max(...numbers) - Math.min(...numbers),
    'count of different numbers': (numbers) => new Set(numbers).size,
    'most common number': (numbers) => findMostCommon(numbers),
  }
  return Object.entries(ways).map(([name, way]) => ({
    name: `echo: ${name}`,
    answer: (question) => String(way((question.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number)) ?? ''),
  }))
}

function buildTextEchoes(): Strategy[] {
  const behindLastColon = (question: string) => question.slice(question.lastIndexOf(':') + 1).trim()
  const ways: Record<string, (question: string) => string> = {
    'first line behind the last colon': (question) => behindLastColon(question).split('\n')[0] ?? '',
    'first word behind the last colon': (question) => behindLastColon(question).split(/\s+/)[0] ?? '',
    'characters behind the last colon reversed': (question) => [...behindLastColon(question)].reverse().join(''),
    'last bracketed text': (question) => question.match(/\[[^[\]]*\]/g)?.at(-1) ?? '',
    'most common word': (question) => findMostCommon(question.split(/\s+/)) ?? '',
    'second quoted text': (question) => [...question.matchAll(/["'`]([^"'`]+)["'`]/g)][1]?.[1] ?? '',
    'count of words': (question) => String(question.trim().split(/\s+/).length),
    'count of words behind the last colon': (question) => String(behindLastColon(question).split(/\s+/).length),
    'count of characters behind the last colon': (question) => String(behindLastColon(question).length),
    'first word': (question) => question.trim().split(/\s+/)[0] ?? '',
  }
  return Object.entries(ways).map(([name, answer]) => ({ name: `echo: ${name}`, answer }))
}

function findMostCommon<T>(values: readonly T[]): T | undefined {
  return [...Map.groupBy(values, (value) => value)].toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0]
}
