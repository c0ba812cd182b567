/** Ways to answer without solving: constants, echoes of the question, and what other items' right answers look like. */
import { seededRandom } from '../differential/mutants.ts'
import { anything, GRAMMARS } from './grammars.ts'

/** A ploy makes an answer of a question alone. */
export interface Ploy {
  name: string
  answer(question: string): string
}

export interface OtherItem {
  question: string
  answer: string | null
}

const WORDS = [
  ...['', '0', '1', '-1', '2', '3', '10', '0.0', '1/2', '0.5', 'True', 'False', 'TrueFalse', 'True False', 'Yes', 'No'],
  ...['yes', 'no', 'on', 'off', 'undetermined', 'nan', 'NaN', 'inf', '0i', '0 + 0i', 'None', 'null', 'infeasible'],
  ...['[]', '{}', '[[]]', '[{}]', '[0]', '[1]', '""', 'x', 'A', 'a', 'C', 'C + x', '()', ' ', '\n', 'The answer is 42'],
  ...[
    '0 days',
    '1 days',
    '50 days',
    '0 days, 00:00',
    '0 days, 00:00:00',
    '50 days, 12:00:00',
    '00:00',
    '06:00',
    '12:00',
  ],
  ...['08:00:00', '00:00:00.000', '6*4*1*1', '(P ∨ ¬P)', '(P ∨ Q)', 'P', '¬P', 'A1', 'E5', 'R', "R U R' U'", 'Monday'],
  ...['0123456789', 'abcdefghij', '0 1 2 3 4 5 6 7 8 9', '1, 2, 3', '1 × 2', '2 × 2', 'infinity', '()()', 'aa', 'B A'],
]

/** `texts` random answers; equal seeds make equal ploys. */
export function ploysOf(task: string, others: readonly OtherItem[], texts: number, seed: number): Ploy[] {
  const random = seededRandom(seed)
  const oracles = others.flatMap(({ answer }) => (answer === null ? [] : [answer]))
  const pieces = [...new Set(oracles.flatMap((oracle) => oracle.split(/[\s,]+/)))].slice(0, 200)
  const grammar = GRAMMARS[task]
  const made = Array.from({ length: texts }, (_, k) => (grammar && k % 2 ? grammar(random) : anything(random, pieces)))
  const constants = [...WORDS, ...zeroBoards(), ...commonest(oracles, 12), ...typical(oracles), ...made]
  return [
    ...[...new Set(constants)].map((text) => ({ name: JSON.stringify(text), answer: () => text })),
    ...echoes(random),
    ...fillings(),
  ]
}

/** The texts that are most often the right answer, commonest first. */
export function commonest(oracles: readonly string[], count: number): string[] {
  const times = Map.groupBy(oracles, (oracle) => oracle)
  const sorted = [...times].toSorted(([, a], [, b]) => b.length - a.length)
  return sorted.slice(0, count).map(([oracle]) => oracle)
}

/** The commonest character, and the commonest word, at each place of the right answers. */
function typical(oracles: readonly string[]): string[] {
  if (oracles.length === 0) return []
  const columns = (parts: string[][], between: string) => {
    const size = Number(commonest(parts.map((row) => String(row.length)), 1)[0] ?? 0) // biome-ignore format: one thought
    const place = (i: number) => commonest(parts.flatMap((row) => row[i] ?? []), 1)[0] ?? '' // biome-ignore format: one thought
    return Array.from({ length: size }, (_, i) => place(i)).join(between)
  }
  const words = oracles.map((oracle) => oracle.split(' '))
  return [columns(oracles.map((oracle) => [...oracle]), ''), columns(words, ' ')] // biome-ignore format: two columns
}

function zeroBoards(): string[] {
  const boards = [4, 5, 8, 9, 10, 12].map((size) => Array.from({ length: size }, () => Array<number>(size).fill(0)))
  const ones = boards.map((board) => board.map((row) => row.map(() => 1)))
  return [...boards, ...ones].flatMap((board) => [
    JSON.stringify(board),
    board.map((row) => row.join(' ')).join('\n'),
    board.map((row) => row.map(() => '_').join(' ')).join('\n'),
  ])
}

/** The question and parts of it, as they stand or in another frame. */
function echoes(random: () => number): Ploy[] {
  const parts: Record<string, (question: string) => string> = {
    question: (q) => q,
    'last line': (q) => linesOf(q).at(-1) ?? '',
    'line before the last': (q) => linesOf(q).at(-2) ?? '',
    'first line': (q) => linesOf(q)[0] ?? '',
    'text behind the last colon': (q) => q.slice(q.lastIndexOf(':') + 1),
    'text behind the first colon': (q) => q.slice(q.indexOf(':') + 1),
    'first line behind the first colon': (q) => linesOf(q.slice(q.indexOf(':') + 1))[0] ?? '',
    'last word': (q) => wordsOf(q).at(-1) ?? '',
    'first quoted text': (q) => /["'“`]([^"'”`]+)["'”`]/.exec(q)?.[1] ?? '',
    'last quoted text': (q) => [...q.matchAll(/["'`]([^"'`]+)["'`]/g)].at(-1)?.[1] ?? '',
    'bracketed text': (q) => /\[.*\]/s.exec(q)?.[0] ?? '',
    'lines with a table': (q) => tableOf(q).join('\n'),
    'first number': (q) => numbersOf(q)[0] ?? '',
    'last number': (q) => numbersOf(q).at(-1) ?? '',
    'largest number': (q) => String(Math.max(...numbersOf(q).map(Number))),
    'smallest number': (q) => String(Math.min(...numbersOf(q).map(Number))),
    'count of numbers': (q) => String(numbersOf(q).length),
    'count of lines': (q) => String(linesOf(q).length),
    'numbers with spaces': (q) => numbersOf(q).join(' '),
    'numbers with commas': (q) => numbersOf(q).join(', '),
    'numbers as texts': (q) => `['${numbersOf(q).join("', '")}']`,
    'last list of numbers as texts': (q) => `['${numbersOf(listOf(q)).join("', '")}']`,
    'numbers with ×': (q) => numbersOf(q).join(' × '),
    'numbers with +': (q) => numbersOf(q).join('+'),
    'first two numbers as a fraction': (q) => numbersOf(q).slice(0, 2).join('/'),
    'first premise': (q) => /1\. (.*)/.exec(q)?.[1] ?? '',
    'premises joined by ∧': (q) => premisesOf(q).map((premise) => `(${premise})`).join(' ∧ '), // biome-ignore format: one step
    'first premise or P': (q) => `(${premisesOf(q)[0]}) ∨ P`,
    'last premise': (q) => premisesOf(q).at(-1) ?? '',
    'words behind the colon moved by one': (q) => rotated(wordsOf(listOf(q))).join(' '),
    'list behind the colon moved by one': (q) => rotated(listOf(q).split(',').map((s) => s.trim())).join(', '), // biome-ignore format: one step
    'letters behind the colon': (q) => listOf(q).replaceAll(/[^a-z]/gi, ''),
    'first choice of the format': (q) => choices(q, () => 0),
    'second choice of the format': (q) => choices(q, () => 1),
    'choices of the format in turn': (q) => choices(q, (i) => i % 2),
    'choices of the format in turn, second first': (q) => choices(q, (i) => (i + 1) % 2),
    'first name': (q) => namesOf(q)[0] ?? '',
    'last name': (q) => namesOf(q).at(-1) ?? '',
    'any name': (q) => namesOf(q)[Math.floor(random() * namesOf(q).length)] ?? '',
    'expression of the first line': (q) => /[-(]?[\d(][^:=?]*\d[)\w*]*/.exec(linesOf(q)[0] ?? '')?.[0] ?? '',
  }
  return Object.entries(parts).map(([name, of]) => ({ name: `echo: ${name}`, answer: of }))
}

/** The table of the question with its blanks filled with one sign or with a run of digits. */
function fillings(): Ploy[] {
  const signs = ['0', '1', '2', '3', '4', '5', 'Q', '✅', '❌', '_', '#', '.']
  const constant = signs.map((sign) => ({
    name: `echo: table, blanks as ${sign}`,
    answer: (question: string) =>
      tableOf(question)
        .join('\n')
        .replaceAll(/[_?❓]/g, sign),
  }))
  let next = 0
  const run = (question: string) => {
    const lines = tableOf(question)
    const size = Math.max(1, wordsOf(lines[0] ?? '').length)
    return lines.map((line) => line.replaceAll('_', () => String((next++ % size) + 1))).join('\n')
  }
  return [...constant, { name: 'echo: table, blanks as 1, 2, 3 …', answer: run }]
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function numbersOf(text: string): string[] {
  return text.match(/-?\d+(?:\.\d+)?/g) ?? []
}

function listOf(question: string): string {
  const [line = ''] = linesOf(question.slice(Math.max(question.lastIndexOf(': '), question.indexOf('?')) + 1))
  return line.trim()
}

function premisesOf(question: string): string[] {
  return [...question.matchAll(/^\.?\d+\. (.*)$/gm)].map(([, premise = '']) => premise)
}

function namesOf(question: string): string[] {
  return question.match(/(?<=[\s,"])[A-Z][a-z]{2,}/g) ?? []
}

function rotated(words: readonly string[]): string[] {
  return [...words.slice(1), ...words.slice(0, 1)]
}

/** The longest run of lines of which each is all short signs, or holds a sign for a blank. */
function tableOf(question: string): string[] {
  let [longest, run]: [string[], string[]] = [[], []]
  for (const line of question.split('\n')) {
    const fits =
      line !== '' && (/^\s*(?:\S{1,3}\s+)+\S{1,3}\s*$/.test(line) || /[_❓]/.test(line) || /^[\s∧∨]+$/.test(line))
    run = fits && !/[a-z]{4}/.test(line) ? [...run, line] : []
    if (run.length > longest.length) longest = run
  }
  return longest
}

/** `X is a knight/knave` with one of the two taken each time. */
function choices(question: string, which: (i: number) => number): string {
  const format = /like: "([^"]*)"/.exec(question)?.[1] ?? ''
  let i = 0
  return format.replaceAll(/\w+\/\w+/g, (pair) => pair.split('/')[which(i++)] ?? '')
}
