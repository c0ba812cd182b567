/** Ways to answer without solving: constants, echoes of the question, and what other items' right answers look like. */
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { ANSWER_GRAMMARS, generateGenericAnswer } from './answer-grammars.ts'

/** A ploy makes an answer of a question alone. */
export interface Strategy {
  name: string
  answer(question: string): string
}

export interface ReferenceItem {
  question: string
  answer: string | null
}

/** Separated by bars; the first is empty. */
const CONSTANT_ANSWERS = [
  '|0|1|-1|2|3|10|0.0|1/2|0.5|True|False|TrueFalse|True False|Yes|No|yes|no|on|off|undetermined|nan|NaN|inf',
  '0i|0 + 0i|None|null|infeasible|[]|{}|[[]]|[{}]|[0]|[1]|""|x|A|a|C|C + x|()| |\n|The answer is 42|0 days',
  '1 days|50 days|0 days, 00:00|0 days, 00:00:00|50 days, 12:00:00|00:00|06:00|12:00|08:00:00|00:00:00.000',
  "6*4*1*1|(P ∨ ¬P)|(P ∨ Q)|P|¬P|A1|E5|R|R U R' U'|Monday|0123456789|abcdefghij|0 1 2 3 4 5 6 7 8 9|1, 2, 3",
  '1 × 2|2 × 2|infinity|()()|aa|B A',
].flatMap((line) => line.split('|'))

/** `texts` random answers; equal seeds make equal ploys. */
export function buildStrategies(
  task: string,
  others: readonly ReferenceItem[],
  texts: number,
  seed: number,
): Strategy[] {
  const random = seededRandom(seed)
  const oracles = others.flatMap(({ answer }) => (answer === null ? [] : [answer]))
  const pieces = [...new Set(oracles.flatMap((oracle) => oracle.split(/[\s,]+/)))].slice(0, 200)
  const grammar = ANSWER_GRAMMARS[task]
  const made = Array.from({ length: texts }, (_, k) =>
    grammar && k % 2 ? grammar(random) : generateGenericAnswer(random, pieces),
  )
  const constants = [
    ...CONSTANT_ANSWERS,
    ...buildConstantBoards(),
    ...getMostCommon(oracles, 12),
    ...buildTypicalAnswers(oracles),
    ...made,
  ]
  return [
    ...[...new Set(constants)].map((text) => ({ name: JSON.stringify(text), answer: () => text })),
    ...buildEchoStrategies(random),
    ...buildFillStrategies(),
  ]
}

/** The texts that are most often the right answer, commonest first. */
export function getMostCommon(oracles: readonly string[], count: number): string[] {
  const times = Map.groupBy(oracles, (oracle) => oracle)
  const sorted = [...times].toSorted(([, a], [, b]) => b.length - a.length)
  return sorted.slice(0, count).map(([oracle]) => oracle)
}

/** The commonest character, and the commonest word, at each place of the right answers. */
function buildTypicalAnswers(oracles: readonly string[]): string[] {
  if (oracles.length === 0) return []
  const columns = (parts: string[][], between: string) => {
    const size = Number(
      getMostCommon(
        parts.map((row) => String(row.length)),
        1,
      )[0] ?? 0,
    )
    const place = (i: number) =>
      getMostCommon(
        parts.flatMap((row) => row[i] ?? []),
        1,
      )[0] ?? ''
    return Array.from({ length: size }, (_, i) => place(i)).join(between)
  }
  const words = oracles.map((oracle) => oracle.split(' '))
  return [
    columns(
      oracles.map((oracle) => [...oracle]),
      '',
    ),
    columns(words, ' '),
  ]
}

function buildConstantBoards(): string[] {
  const boards = [4, 5, 8, 9, 10, 12].map((size) => Array.from({ length: size }, () => Array<number>(size).fill(0)))
  const ones = boards.map((board) => board.map((row) => row.map(() => 1)))
  return [...boards, ...ones].flatMap((board) => [
    JSON.stringify(board),
    board.map((row) => row.join(' ')).join('\n'),
    board.map((row) => row.map(() => '_').join(' ')).join('\n'),
  ])
}

/** The question and parts of it, as they stand or in another frame. */
function buildEchoStrategies(random: () => number): Strategy[] {
  const parts: Record<string, (question: string) => string> = {
    question: (q) => q,
    'last line': (q) => splitLines(q).at(-1) ?? '',
    'line before the last': (q) => splitLines(q).at(-2) ?? '',
    'first line': (q) => splitLines(q)[0] ?? '',
    'text behind the last colon': (q) => q.slice(q.lastIndexOf(':') + 1),
    'text behind the first colon': (q) => q.slice(q.indexOf(':') + 1),
    'first line behind the first colon': (q) => splitLines(q.slice(q.indexOf(':') + 1))[0] ?? '',
    'last word': (q) => splitWords(q).at(-1) ?? '',
    'first quoted text': (q) => /["'“`]([^"'”`]+)["'”`]/.exec(q)?.[1] ?? '',
    'last quoted text': (q) => [...q.matchAll(/["'`]([^"'`]+)["'`]/g)].at(-1)?.[1] ?? '',
    'bracketed text': (q) => /\[.*\]/s.exec(q)?.[0] ?? '',
    'lines with a table': (q) => findTable(q).join('\n'),
    'first number': (q) => findNumbers(q)[0] ?? '',
    'last number': (q) => findNumbers(q).at(-1) ?? '',
    'largest number': (q) => String(Math.max(...findNumbers(q).map(Number))),
    'smallest number': (q) => String(Math.min(...findNumbers(q).map(Number))),
    'count of numbers': (q) => String(findNumbers(q).length),
    'count of lines': (q) => String(splitLines(q).length),
    'numbers with spaces': (q) => findNumbers(q).join(' '),
    'numbers with commas': (q) => findNumbers(q).join(', '),
    'numbers as texts': (q) => `['${findNumbers(q).join("', '")}']`,
    'last list of numbers as texts': (q) => `['${findNumbers(getListText(q)).join("', '")}']`,
    'numbers with ×': (q) => findNumbers(q).join(' × '),
    'numbers with +': (q) => findNumbers(q).join('+'),
    'first two numbers as a fraction': (q) => findNumbers(q).slice(0, 2).join('/'),
    'first premise': (q) => /1\. (.*)/.exec(q)?.[1] ?? '',
    'premises joined by ∧': (q) =>
      findPremises(q)
        .map((premise) => `(${premise})`)
        .join(' ∧ '),
    'first premise or P': (q) => `(${findPremises(q)[0]}) ∨ P`,
    'last premise': (q) => findPremises(q).at(-1) ?? '',
    'words behind the colon moved by one': (q) => rotate(splitWords(getListText(q))).join(' '),
    'list behind the colon moved by one': (q) =>
      rotate(
        getListText(q)
          .split(',')
          .map((s) => s.trim()),
      ).join(', '),
    'letters behind the colon': (q) => getListText(q).replaceAll(/[^a-z]/gi, ''),
    'first choice of the format': (q) => resolveChoices(q, () => 0),
    'second choice of the format': (q) => resolveChoices(q, () => 1),
    'choices of the format in turn': (q) => resolveChoices(q, (i) => i % 2),
    'choices of the format in turn, second first': (q) => resolveChoices(q, (i) => (i + 1) % 2),
    'first name': (q) => findNames(q)[0] ?? '',
    'last name': (q) => findNames(q).at(-1) ?? '',
    'any name': (q) => findNames(q)[Math.floor(random() * findNames(q).length)] ?? '',
    'expression of the first line': (q) => /[-(]?[\d(][^:=?]*\d[)\w*]*/.exec(splitLines(q)[0] ?? '')?.[0] ?? '',
  }
  return Object.entries(parts).map(([name, of]) => ({ name: `echo: ${name}`, answer: of }))
}

/** The table of the question with its blanks filled with one sign or with a run of digits. */
function buildFillStrategies(): Strategy[] {
  const signs = ['0', '1', '2', '3', '4', '5', 'Q', '✅', '❌', '_', '#', '.']
  const constant = signs.map((sign) => ({
    name: `echo: table, blanks as ${sign}`,
    answer: (question: string) =>
      findTable(question)
        .join('\n')
        .replaceAll(/[_?❓]/g, sign),
  }))
  let next = 0
  const run = (question: string) => {
    const lines = findTable(question)
    const size = Math.max(1, splitWords(lines[0] ?? '').length)
    return lines.map((line) => line.replaceAll('_', () => String((next++ % size) + 1))).join('\n')
  }
  return [...constant, { name: 'echo: table, blanks as 1, 2, 3 …', answer: run }]
}

function splitLines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function findNumbers(text: string): string[] {
  return text.match(/-?\d+(?:\.\d+)?/g) ?? []
}

function getListText(question: string): string {
  const [line = ''] = splitLines(question.slice(Math.max(question.lastIndexOf(': '), question.indexOf('?')) + 1))
  return line.trim()
}

function findPremises(question: string): string[] {
  return [...question.matchAll(/^\.?\d+\. (.*)$/gm)].map(([, premise = '']) => premise)
}

function findNames(question: string): string[] {
  return question.match(/(?<=[\s,"])[A-Z][a-z]{2,}/g) ?? []
}

function rotate(words: readonly string[]): string[] {
  return [...words.slice(1), ...words.slice(0, 1)]
}

/** The longest run of lines of which each is all short signs, or holds a sign for a blank. */
function findTable(question: string): string[] {
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
function resolveChoices(question: string, which: (i: number) => number): string {
  const format = /like: "([^"]*)"/.exec(question)?.[1] ?? ''
  let i = 0
  return format.replaceAll(/\w+\/\w+/g, (pair) => pair.split('/')[which(i++)] ?? '')
}
