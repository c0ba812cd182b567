/**
 * Answers whose label is known without asking the scorer under test: the reference, the same in other words, near misses that
 * are wrong by construction, and answers that solve nothing.
 */
import { getCorrectAnswer } from '@reasoning-gym-server/mock-model/answers'
import type { ScoredItem } from '../engine.ts'
import type { AnswerKind } from './truth-table.ts'

export interface LabeledAnswer {
  kind: AnswerKind
  /** Name of the rewording, mutation or guess. */
  form: string
  text: string
}

type Forms = Readonly<Record<string, (right: string) => string | undefined>>

/**
 * Tasks where an item has many right answers. Their near misses are made only by what breaks every solution: a missing last part
 * of a shortest or complete one, or a broken constraint.
 */
const MANY_SOLUTIONS: ReadonlySet<string> = new Set(
  (
    'boxnet countdown cryptarithm graph_color intermediate_integration jugs knight_swap letter_jumble n_queens ' +
    'palindrome_generation propositional_logic puzzle24 quantum_lock rubiks_cube rush_hour shortest_path ' +
    'simple_integration sokoban tower_of_hanoi word_ladder'
  ).split(' '),
)

/** Digits in these answers are text: `10.0` is not another notation of `10`. */
const DIGITS_ARE_TEXT: ReadonlySet<string> = new Set(
  (
    'arc_1d arc_agi base_conversion bf bitwise_arithmetic caesar_cipher figlet_font number_format path_star ' +
    'prime_factorization rearc spell_backward string_manipulation string_splitting string_synthesis'
  ).split(' '),
)

const NUMBER = /^-?\d+(?:\.\d+)?$/
/** Its unit may be left out or misspelled. */
const UNIT = /^[\d.]+(?:°| days)$/
const TRUTH_OPPOSITES: Readonly<Record<string, string>> = { True: 'False', False: 'True', Yes: 'No', No: 'Yes' }

/** Other notations of any answer. White space and a box around it are not among them: extraction deals with these. */
const REWORDINGS: Forms = {
  'white space at line ends': (right) => (right.includes('\n') ? right.replaceAll('\n', ' \n') : undefined),
  'other letter case': (right) => (right in TRUTH_OPPOSITES ? right.toLowerCase() : undefined),
  'another fraction command': (right) => (right.includes('\\frac') ? right.replace('\\frac', '\\dfrac') : undefined),
}

const NUMBER_REWORDINGS: Forms = {
  'a trailing zero': (right) => (right.includes('.') ? `${right}0` : `${right}.0`),
}

const compactJson = (right: string) => JSON.stringify(JSON.parse(right))
const spaceJson = (right: string) => right.replaceAll(/,(?=\S)/g, ', ')
const reverseList = (right: string) => JSON.stringify((JSON.parse(right) as unknown[]).toReversed())
const reverseParts = (between: string) => (right: string) => right.split(between).toReversed().join(between)
const inBrackets = (right: string) => `(${right})`
const withoutSpaces = (right: string) => right.replaceAll(' ', '')
const isSum = (right: string) => / [+-] /.test(right)

/** Other right answers of single tasks: another order, another spacing, or another solution. */
const TASK_REWORDINGS: Readonly<Record<string, Forms>> = {
  boxnet: { compact: compactJson },
  complex_arithmetic: { 'without spaces': withoutSpaces },
  countdown: { 'in brackets': inBrackets, 'without spaces': withoutSpaces },
  cryptarithm: { 'other order': reverseParts(',') },
  game_of_life: { spaced: spaceJson },
  graph_color: { 'colors exchanged': exchangeColors },
  group_anagrams: { 'other order': reverseList, compact: compactJson },
  jugs: { compact: compactJson },
  knight_swap: { compact: compactJson },
  palindrome_partitioning: { 'other order': reverseList, compact: compactJson },
  polynomial_equations: { 'other order': reverseParts(', ') },
  polynomial_multiplication: { 'without spaces': withoutSpaces, 'in another order': reorderSum },
  prime_factorization: { 'other order': reverseParts(' × ') },
  puzzle24: { 'in brackets': inBrackets, 'without spaces': withoutSpaces },
  rubiks_cube: { 'a turn and its inverse more': (right) => `${right} R R'` },
  simple_integration: { 'without spaces': withoutSpaces, 'constant first': putConstantFirst },
  intermediate_integration: { 'without spaces': withoutSpaces, 'constant first': putConstantFirst },
}

function exchangeColors(right: string): string | undefined {
  const colors = Object.entries(JSON.parse(right) as Record<string, number>)
  const used = [...new Set(colors.map(([, color]) => color))]
  const next = new Map(used.map((color, k) => [color, used[(k + 1) % used.length]]))
  return used.length > 1 ? JSON.stringify(Object.fromEntries(colors.map(([v, c]) => [v, next.get(c)]))) : undefined
}

function reorderSum(right: string): string | undefined {
  if (!isSum(right) || right.includes('(')) return undefined
  const terms = right.replaceAll(' - ', ' + -').split(' + ')
  return terms.toReversed().join(' + ').replaceAll('+ -', '- ')
}

function putConstantFirst(right: string): string | undefined {
  return right.endsWith(' + C') ? `C + ${right.slice(0, -4)}` : undefined
}

/** What a model might answer that is nearly right. */
const MUTATIONS: Forms = {
  'the opposite': (right) => TRUTH_OPPOSITES[right],
  'another first digit': (right) => {
    const at = right.search(/[1-9]/)
    return at < 0 ? undefined : `${right.slice(0, at)}${(Number(right[at]) % 9) + 1}${right.slice(at + 1)}`
  },
  'another sign': (right) => (NUMBER.test(right) && Number(right) !== 0 ? String(-Number(right)) : undefined),
  'one more': (right) => (/^-?\d{1,6}$/.test(right) ? String(Number(right) + 1) : undefined),
  'a letter changed': (right) => {
    if (UNIT.test(right)) return undefined
    const letters = [...right.matchAll(/[a-z]/gi)]
    const { index = -1, 0: letter = '' } = letters[Math.floor(letters.length / 2)] ?? {}
    return index < 0 ? undefined : right.slice(0, index) + (/[qQ]/.test(letter) ? 'k' : 'q') + right.slice(index + 1)
  },
  'two signs changed': (right) => {
    if (/\d[.:]\d/.test(right)) return undefined // `.00` is `0.0`, and `0:008` is `00:08`
    const signs = [...right]
    const at = signs.findIndex((sign, k) => k > 0 && sign !== signs[k - 1] && /\S/.test(sign + signs[k - 1]))
    return at < 0
      ? undefined
      : signs
          .with(at, signs[at - 1] ?? '')
          .with(at - 1, signs[at] ?? '')
          .join('')
  },
  'without the last part': dropLastPart,
}

const MANY_SOLUTIONS_MUTATIONS: Forms = { 'without the last part': dropLastPart }

const INTEGRAL_MUTATIONS: Forms = {
  'x more': (right) => `${right} + ${/\b[a-zABD-Z]\b/.exec(right)?.[0] ?? 'x'}`,
  'twice as much': (right) => `2*(${right})`,
  'two answers': (right) => `${right} or x`,
}

const TASK_MUTATIONS: Readonly<Record<string, Forms>> = {
  boxnet: { 'without the last step': dropLastListItem },
  countdown: { 'one more': (right) => `${right} + 1`, 'a free zero': (right) => `${right} + 0` },
  cryptarithm: { 'without the last letter': (right) => right.split(',').slice(0, -1).join(',') },
  graph_color: { 'a vertex missing': dropLastEntry },
  intermediate_integration: INTEGRAL_MUTATIONS,
  jugs: { 'without the last step': dropLastListItem },
  knight_swap: { 'without the last step': dropLastListItem },
  n_queens: {
    'a queen missing': (right) => right.replace('Q', '_'),
    'a queen too many': (right) => right.replace('_', 'Q'),
  },
  propositional_logic: { 'the negation': (right) => `¬(${right})`, 'a contradiction': () => '(P ∧ ¬P)' },
  puzzle24: { 'nearly 24': (right) => `${right} + 0.9`, 'other numbers': () => '24*1*1*1' },
  simple_integration: INTEGRAL_MUTATIONS,
}

function dropLastListItem(right: string): string {
  return JSON.stringify((JSON.parse(right) as unknown[]).slice(0, -1))
}

function dropLastEntry(right: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(right) as object).slice(0, -1)))
}

/** The last line, word, member or character is missing. */
function dropLastPart(right: string): string | undefined {
  const between = ['\n', ' → ', ',', ' ', ''].find((mark) => right.includes(mark)) ?? ''
  const parts = between === '' ? [...right] : right.split(between)
  const rest = parts.slice(0, -1).join(between)
  return rest === '' || NUMBER.test(right) || UNIT.test(right) ? undefined : rest
}

/** Answers that solve nothing: the known reward hacks that need no search. */
const UNSOLVED: Readonly<Record<string, (question: string) => string>> = {
  blank: () => '',
  words: () => 'I am not sure',
  zero: () => '0',
  nan: () => 'nan',
  'the question': (question) => question,
  'last line of the question': (question) => question.trimEnd().split('\n').at(-1) ?? '',
}

export interface LabelContext {
  task: string
  item: Pick<ScoredItem, 'question' | 'entry' | 'rightKey'>
  /** Right answer of another item of the same config. */
  other: string | undefined
}

/** Labels the answers to one item; none if no right answer is known. `most`: answers of each kind; `turn` says which come first. */
export function labelAnswers({ task, item, other }: LabelContext, most: Record<AnswerKind, number>, turn: number) {
  const right = getCorrectAnswer({ task, ...item.entry, answer: item.rightKey })
  if (right === undefined) return []
  const number = NUMBER.test(right) && !DIGITS_ARE_TEXT.has(task) ? NUMBER_REWORDINGS : {}
  const isOnly = !MANY_SOLUTIONS.has(task)
  const mutations: Forms = {
    ...TASK_MUTATIONS[task],
    ...(isOnly ? { ...MUTATIONS, ...nameOther(right, other) } : TASK_MUTATIONS[task] ? {} : MANY_SOLUTIONS_MUTATIONS),
  }
  const unsolved = Object.fromEntries(
    Object.entries(UNSOLVED).map(([form, guess]) => [form, () => guess(item.question)]),
  )
  const apply = (kind: AnswerKind, forms: Forms): LabeledAnswer[] => {
    const made = Object.entries(forms).flatMap(([form, make]) => {
      const text = make(right)
      return text === undefined || text === right ? [] : [{ kind, form, text }]
    })
    const kept = kind === 'reworded' ? made : made.filter(({ text }) => !meansTheSame(text, right))
    return rotate(kept, turn).slice(0, most[kind])
  }
  return [
    { kind: 'reference' as const, form: 'reference', text: right },
    ...apply('reworded', { ...TASK_REWORDINGS[task], ...number, ...REWORDINGS }),
    ...apply('mutated', mutations),
    ...apply('unsolved', mayBeSolved(task, right) ? {} : unsolved),
  ]
}

/** Some boards of few moves are solved from the start, so that no move at all is right. */
function mayBeSolved(task: string, right: string): boolean {
  return task === 'sokoban' && right.length < 3
}

function nameOther(right: string, other: string | undefined): Forms {
  if (other === undefined || other === '' || meansTheSame(right, other)) return {}
  return { 'answer of another item': () => other, 'two answers': () => `${right} or ${other}` }
}

function rotate<Value>(list: readonly Value[], by: number): Value[] {
  const at = list.length === 0 ? 0 : by % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}

/** Numbers this near to each other may be within the tolerance of a task. */
const NEAR = 0.02

/** Generous, so that no right answer is labeled wrong: without spaces, marks and letter case, and near numbers are equal. */
function meansTheSame(a: string, b: string): boolean {
  const [x, y] = [a, b].map((text) => text.toLowerCase().replaceAll(/[\s$"'()[\]{}\\]|boxed/g, ''))
  if (x === y) return true
  const [p, q] = [Number(x), Number(y)]
  return x !== '' && y !== '' && Math.abs(p - q) <= NEAR * Math.max(Math.abs(p), Math.abs(q))
}
