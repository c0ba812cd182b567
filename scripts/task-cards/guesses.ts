/**
 * Answers made without solving, for the guess floor: the search of `npm run verify -- reward-hacks`, more echoes of the
 * question, and the right answer of another item. A guess that is the algorithm itself (the sum, in a task of sums) is no
 * guess there and is left out.
 */
import { seededRandom } from '../../verification/differential/mutants.ts'
import { buildStrategies, type ReferenceItem, type Strategy } from '../../verification/reward-hacks/strategies.ts'

const RANDOM_TEXTS = 60

/** Guesses that solve a task, at least on its easy rungs. */
const SOLUTIONS: Readonly<Record<string, readonly string[]>> = {
  basic_arithmetic: ['echo: sum', 'echo: sum of the last two numbers', 'echo: difference of the last two numbers'],
  chain_sum: ['echo: sum', 'echo: sum of the last two numbers', 'echo: difference of the last two numbers'],
  decimal_arithmetic: ['echo: sum', 'echo: sum of the last two numbers', 'echo: difference of the last two numbers'],
  decimal_chain_sum: ['echo: sum', 'echo: sum of the last two numbers', 'echo: difference of the last two numbers'],
  spell_backward: ['echo: characters behind the last colon reversed'],
}

export function buildGuesses(task: string, others: readonly ReferenceItem[], seed: number): Strategy[] {
  const solutions = SOLUTIONS[task] ?? []
  return [
    ...buildStrategies(task, others, RANDOM_TEXTS, seed),
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
    'first word': (question) => question.trim().split(/\s+/)[0] ?? '',
  }
  return Object.entries(ways).map(([name, answer]) => ({ name: `echo: ${name}`, answer }))
}
