/**
 * Answers made without solving, for the guess floor: the search of `npm run verify -- reward-hacks`, more echoes of the
 * question, and the right answer of another item. A guess that is the algorithm itself (the sum, in a task of sums) is no
 * guess there and is left out.
 */

import { NATIVE_TASKS } from '@reasoning-gym-server/scorers/native-scorers'
import { seededRandom } from '../../src/features/tasks/check/mutants.ts'
import { buildStrategies, type ReferenceItem, type Strategy } from '../../verification/reward-hacks/strategies.ts'

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
