import { createHardenedRule } from '@reasoning-gym-server/scorers/hardened/hardened-scorers'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { TASK_NAMES } from '../../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { type HardenedItem, makeHardenedItems } from '../../src/grading/hardened-item.ts'
import { startCpuClock } from '../cpu-clock.ts'

// Some items take seconds to make, and the machine may have more to do.
vi.setConfig({ testTimeout: 180_000 })

const SEED = 4711
const ITEMS = 8

let engine: PythonEngine
const ladders = new Ladders()
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 1, // each creates the dataset of every config anew
    scoreDeadlineMs: 20_000,
    makeDeadlineMs: 20_000,
  })
  await engine.waitUntilStarted()
})
afterAll(() => engine.close())

type Answer = (item: HardenedItem) => string

function items(task: string, count = ITEMS, config = {}): Promise<HardenedItem[]> {
  const listed = ['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'].includes(task)
  const places = Array.from({ length: count }, (_, k): [number, number] => (listed ? [SEED, k] : [SEED + k, 0]))
  return makeHardenedItems(engine, task, config, places)
}

/** Answers of the right form to which the library gives 0.01 to 0.3 by themselves. */
const FORMATS: [task: string, text: string][] = [
  ['advanced_geometry', '0.123'],
  ['arc_agi', '0'],
  ['boxnet', '[]'],
  ['color_cube_rotation', 'a color'],
  ['countdown', '1+1'],
  ['cryptarithm', 'A=1'],
  ['emoji_mystery', 'words'],
  ['fraction_simplification', '1/1'],
  ['graph_color', '{}'],
  ['group_anagrams', '[]'],
  ['gsm_symbolic', '123456789'],
  ['jugs', '[]'],
  ['knight_swap', '[]'],
  ['palindrome_generation', 'xyzzyx'],
  ['pool_matrix', '-1'],
  ['power_function', 'a'],
  ['prime_factorization', '1'],
  ['propositional_logic', 'P ∧ Q ∧ ¬P'],
  ['puzzle24', '1+1'],
  ['rearc', '0'],
  ['rubiks_cube', 'R'],
  ['rush_hour', 'A+0'],
  ['sentence_reordering', 'one'],
  ['tower_of_hanoi', ' '],
  ['tsumego', 'Z1'],
  ['word_sorting', 'a, b'],
]

/** The hardened scores of one answer an item. */
async function scores(task: string, answerOf: Answer, only: (item: HardenedItem) => boolean = () => true) {
  const chosen = (await items(task)).filter(only)
  expect(chosen.length).toBeGreaterThan(0)
  return Promise.all(chosen.map(async (item) => (await item.score([answerOf(item)]))[0] ?? Number.NaN))
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

const oracle: Answer = ({ entry }) => entry.answer ?? ''
const always = (text: string) => () => text
/** A field of an entry's metadata, whose shape the test knows. */
const field = <T>({ entry }: HardenedItem, name: string) => (entry.metadata as Record<string, T>)[name] as T

describe('no reward without solving', () => {
  const holes: [truth: string, task: string, answer: Answer][] = [
    ['any text does not halt a game of life', 'game_of_life_halting', always('it depends')],
    ['24 takes the four numbers given', 'puzzle24', always('6*4*1*1')],
    ['digits in exponents are not the numbers given', 'countdown', (i) => `${field<number>(i, 'target')}e0`],
    ['digits times nothing are not used', 'countdown', hiddenDigits],
    ['nan is no complex number', 'complex_arithmetic', always('nan')],
    ['a complex nan is none either', 'complex_arithmetic', always('nan+nanj')],
    ['a premise is no conclusion', 'propositional_logic', (i) => field<string[]>(i, 'premises')[0] ?? ''],
    [
      'a premise in other brackets is no conclusion',
      'propositional_logic',
      (i) => `(${field<string[]>(i, 'premises')[0]})`,
    ],
    ['a premise denied twice is no conclusion', 'propositional_logic', (i) => `¬¬${field<string[]>(i, 'premises')[0]}`],
    ['all premises joined are no conclusion', 'propositional_logic', (i) => allPremises(i)],
    ['a premise with an alternative is no conclusion', 'propositional_logic', (i) => `(${allPremises(i)}) ∨ P`],
    ['a tautology is no conclusion', 'propositional_logic', always('(P ∨ ¬P)')],
    ['a contradiction is no conclusion', 'propositional_logic', always('(P ∧ ¬P)')],
    ['the right word with junk is not spelled backward', 'spell_backward', (i) => `${oracle(i)}x`],
    ['numbers off by half are not sorted', 'number_sorting', offByHalf],
    ['an answer with all choices is none', 'course_schedule', always('TrueFalse')],
    ['a text that holds the answer is not the answer', 'gcd', (i) => `1 2 3 4 5 6 7 8 9 10 ${oracle(i)}`],
    ['a longer number that ends in the answer is another', 'rotten_oranges', (i) => `5${oracle(i)}`],
    ['several guesses are none', 'aiw', always('0 1 2 3 4 5 6 7 8 9')],
    ['a count nearby is wrong', 'rectangle_count', (i) => String(Number(oracle(i)) + 1)],
    [
      'the question repeated unscrambles nothing',
      'letter_jumble',
      (i) => field<string[]>(i, 'scrambled_words').join(' '),
    ],
    [
      'an equation with its question repeated is not multiplied out',
      'polynomial_multiplication',
      (i) => field<string>(i, 'polynomial_expr'),
    ],
    ['a letter-by-letter ladder takes words that exist', 'word_ladder', madeUpLadder],
    ['every a, b and c of a sentence is no button', 'quantum_lock', always('Be a cab, press A and B and back')],
    ['a board for another puzzle is no sudoku', 'mini_sudoku', always('1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1')],
    [
      'a part of the given fraction is not simplified',
      'fraction_simplification',
      (i) => `${field<number>(i, 'numerator')}/7`,
    ],
    ['a second fraction is a second guess', 'fraction_simplification', (i) => `${oracle(i)} or $\\frac{1}{2}$`],
    ['the first of two polynomials is a guess', 'polynomial_multiplication', (i) => `${oracle(i)} or x`],
    ['the first of two antiderivatives is a guess', 'simple_integration', (i) => `${oracle(i)} or x`],
    ['a second span of time is a second guess', 'time_intervals', (i) => `${oracle(i)} or 3 days`],
    ['a variable is no constant', 'simple_integration', (i) => `${oracle(i)}*${field<string>(i, 'variable')}`],
    ['a number with the other sign is another', 'gsm_symbolic', (i) => `-${oracle(i)}`],
    ['no moves solve no cube', 'rubiks_cube', always(' ')],
    ['a plan for any board lifts nothing', 'boxnet', always('[{"Agent[9.5, 9.5]": "move(box_red, target_red)"}]')],
  ]
  it.each(holes)('%s (%s)', async (_, task, answer) => {
    expect(mean(await scores(task, answer, (item) => oracle(item) !== answer(item)))).toBeLessThan(0.06)
  })

  const wrong = (answer: Answer) => (item: HardenedItem) => oracle(item) !== answer(item)
  it('a board of zeros is worth nothing where a cell lives (game_of_life)', async () => {
    const zeros = always(
      JSON.stringify(Array.from({ length: 10 }, () => Array<number>(10).fill(0))).replaceAll(', ', ','),
    )
    expect(await scores('game_of_life', zeros, wrong(zeros))).toSatisfy(allZero)
  })

  it('a number is its own factor only where it is prime (prime_factorization)', async () => {
    const echo: Answer = ({ question }) => /\d+/.exec(question.slice(question.indexOf(': ')))?.[0] ?? ''
    expect(
      await scores(
        'prime_factorization',
        (i) => product(oracle(i)),
        wrong((i) => product(oracle(i))),
      ),
    ).toSatisfy(allZero)
    expect(await scores('prime_factorization', echo, wrong(echo))).toSatisfy(allZero)
  })

  it('a span near the right one is wrong (time_intervals)', async () => {
    for (const text of ['0 days', '50 days', '50 days, 00:00', '06:00', '06:00:00', '06:00:00.000']) {
      expect(await scores('time_intervals', always(text), wrong(always(text)))).toSatisfy(allZero)
    }
  })

  it('no chance is not a small chance (coin_flip)', () => {
    const question = 'What is the probability of getting exactly 15 heads in 15 fair coin flips?'
    const entry = { question, answer: '3.051757812e-05', metadata: {} }
    const rule = createHardenedRule('coin_flip', { entry, config: {}, upstream: () => 1 })
    expect([rule('0'), rule('3.05e-05'), rule('3.0517578125e-05'), rule('1/32768')]).toEqual([0, 1, 1, 1])
  })

  it('other JSON is another output (codeio)', () => {
    const entry = { question: 'Predict the output.', answer: '["1", "2"]', metadata: {} }
    const rule = createHardenedRule('codeio', { entry, config: {}, upstream: () => 0 })
    expect(['["1","2"]', '[1, 2]', '1, 2', "['1', '2']"].map(rule)).toEqual([1, 0, 0, 0])
  })

  /** Of an answer to an item with such a key; with `upstream`, the library's rule pays all. */
  const score = (task: string, key: string, answer: string, { question = '', metadata = {}, upstream = 0 } = {}) =>
    createHardenedRule(task, { entry: { question, answer: key, metadata }, config: {}, upstream: () => upstream })(
      answer,
    )

  it('a numeral in another base is no number in digits (base_conversion)', () => {
    expect(['1000', '1,000', '1e03', '1e3'].map((answer) => score('base_conversion', '1e3', answer))).toEqual([
      0, 0, 0, 1,
    ])
    expect(['1e3', '1E3', '1000'].map((answer) => score('base_conversion', '1000', answer))).toEqual([0, 0, 1])
  })

  it('turns that are combined stay so between commas (rubiks_cube)', () => {
    const metadata = { cube_size: 3, scramble_moves: "F' U2 R2" }
    const earned = ['R R U U F', 'R, R, U, U, F', 'R2 U2 F', 'R2, U2, F', 'R2,U2,F', 'R2\x1cU2\x85F'].map((answer) =>
      score('rubiks_cube', '', answer, { metadata }),
    )
    expect(earned).toEqual([1, 1, 0.9, 0.9, 0.9, 0.9])
  })

  it('a power is no product (prime_factorization)', () => {
    const given = { metadata: { number: 30 }, upstream: 1 }
    const earns = (answer: string) => score('prime_factorization', '2 × 3 × 5', answer, given)
    for (const right of ['2*3*5', '30 = **2 × 3 × 5**', '**2** × **3** × **5**', '**2 * 3 * 5**'])
      expect(earns(right), right).toBe(1)
    for (const wrong of ['2**3*5', '2**3**5', '2··3·5', '2x3xx5', '2 × × 3 × 5']) expect(earns(wrong), wrong).toBe(0)
  })

  it('a percentage answers a question for one (gsm_symbolic)', () => {
    const asked = { question: 'What percent of them is red?' }
    const other = { question: '30 percent of them are red. How many is that?' }
    for (const right of ['20%', '20 %', '20\\%', '(20%)', '20% of them', '20% have spots'])
      expect(score('gsm_symbolic', '20', right, asked), right).toBe(1)
    expect(score('gsm_symbolic', '20', '20%%', asked)).toBe(0)
    expect(['20%', '20'].map((answer) => score('gsm_symbolic', '20', answer, other))).toEqual([0, 1])
  })

  it.each(FORMATS)('well-formed text is worth nothing by itself (%s)', async (task, text) => {
    expect(await scores(task, always(text))).toSatisfy(allZero)
  })

  it('any text is no empty list of roots (polynomial_equations)', () => {
    const rule = createHardenedRule('polynomial_equations', {
      entry: { question: '', answer: '', metadata: {} },
      config: {},
      upstream: () => 1,
    })
    expect(['', '""', 'banana', 'x = y'].map(rule)).toEqual([1, 1, 0, 0])
  })

  it('one root of two is worth nothing (polynomial_equations)', async () => {
    const first: Answer = (item) => oracle(item).split(', ')[0] ?? ''
    expect(await scores('polynomial_equations', first, wrong(first))).toSatisfy(allZero)
  })
})

describe('partial credit for work that is done', () => {
  it('a cube with most of its stickers home earns more than a scrambled one, and less than a solved one', async () => {
    const earned: number[] = []
    for (const item of await items('rubiks_cube')) {
      const undone = field<string>(item, 'scramble_moves').split(' ').toReversed().map(inverse)
      const [most = 1, all = 0] = await item.score([undone.slice(0, -1).join(' '), undone.join(' ')])
      expect([most < 1, all]).toEqual([true, 1])
      earned.push(most)
    }
    // A scramble whose moves undo each other leaves less to be brought home.
    expect(mean(earned)).toBeGreaterThan(0.15)
  })

  it('a sudoku with most of its blanks right earns less than a whole one and more than the givens', async () => {
    for (const item of await items('mini_sudoku')) {
      const [wrong = 1, whole = 0] = await item.score([lastBlankWrong(item), oracle(item)])
      expect([wrong > 0, wrong < 0.9, whole]).toEqual([true, true, 1])
    }
  })
})

describe('honest near-misses are forgiven', () => {
  const wrapped: Answer[] = [
    (i) => ` ${oracle(i)}\n`,
    (i) => `\\boxed{${oracle(i)}}`,
    (i) => `$${oracle(i)}$`,
    (i) => `\\(${oracle(i)}\\)`,
    (i) => `$\\boxed{\\text{${oracle(i)}}}$`,
    (i) => oracle(i).replaceAll('\n', '  \n'),
  ]
  const alike: [what: string, task: string, answer: Answer][] = [
    ['white space and wrappers of a number', 'gcd', oracle],
    ['white space and wrappers of a verdict', 'course_schedule', oracle],
    ['white space and wrappers of a word', 'caesar_cipher', oracle],
    ['white space and wrappers of a grid', 'rotate_matrix', oracle],
    ['white space and wrappers of a sudoku', 'mini_sudoku', oracle],
    ['white space and wrappers of a board of queens', 'n_queens', oracle],
    ['white space and wrappers of an expression', 'countdown', oracle],
  ]
  it.each(alike)('%s (%s)', async (_, task) => {
    for (const answer of wrapped) expect(await scores(task, answer)).toSatisfy(allOne)
  })

  const others: [what: string, task: string, answer: Answer][] = [
    ['the case of True and False', 'course_schedule', (i) => oracle(i).toLowerCase()],
    ['the case of True and False', 'game_of_life_halting', (i) => oracle(i).toUpperCase()],
    ['the case of yes and no', 'syllogism', (i) => oracle(i).toLowerCase()],
    ['the case of hexadecimal digits', 'base_conversion', (i) => oracle(i).toUpperCase()],
    ['the case of hexadecimal digits', 'bitwise_arithmetic', (i) => oracle(i).toUpperCase()],
    ['the case of weekdays and of yes', 'calendar_arithmetic', (i) => oracle(i).toLowerCase()],
    ['decimals that change no value', 'gcd', (i) => `${oracle(i)}.0`],
    ['decimals that change no value', 'simple_equations', (i) => `${oracle(i)}.00`],
    ['the name of the unknown', 'simple_equations', (i) => `x = ${oracle(i)}`],
    ['a fraction in LaTeX', 'fraction_simplification', (i) => `\\boxed{\\frac{${parts(i).join('}{')}}}`],
    ['numbers that are no texts', 'number_sorting', (i) => oracle(i).replaceAll("'", '')],
    ['factors with another sign between', 'prime_factorization', (i) => oracle(i).replaceAll('×', '\\times')],
    ['factors with another sign between', 'prime_factorization', (i) => oracle(i).replaceAll('×', '·')],
    ['the number before its factors', 'prime_factorization', (i) => `${product(oracle(i))} = ${oracle(i)}`],
    ['what is counted', 'leg_counting', (i) => `${oracle(i)} legs`],
    ['spaces in a fraction', 'dice', (i) => oracle(i).replace('/', ' / ')],
    [
      'the name of the unknown before each root',
      'polynomial_equations',
      (i) => oracle(i).replaceAll(/-?[\d.]+/g, 'x = $&'),
    ],
    ['the brackets of a list of one', 'list_functions', (i) => oracle(i).replaceAll(/[[\]]/g, ' $& ')],
    ['the quotes of a list of one', 'number_filtering', (i) => oracle(i).replaceAll("'", '"')],
    [
      'commas between the rows',
      'binary_matrix',
      (i) => `[${oracle(i).replaceAll(' ', ', ').replaceAll('\n', '],\n[')}]`,
    ],
  ]
  it.each(others)('%s (%s)', async (_, task, answer) => {
    expect(await scores(task, answer)).toSatisfy(allOne)
  })

  it('another value is not forgiven', async () => {
    expect(await scores('gcd', (i) => `${oracle(i)}.01`)).toSatisfy(allZero)
    expect(
      await scores(
        'base_conversion',
        (i) => `${oracle(i)}0`,
        (i) => oracle(i) !== '0',
      ),
    ).toSatisfy(allZero)
  })

  it('a wrapper round a part of the answer is no second guess', async () => {
    expect(await scores('gcd', (i) => `7919 \\boxed{${oracle(i)}}`)).toSatisfy(allZero)
  })
})

describe('the right answer scores 1', () => {
  it.each(TASK_NAMES)('%s', { timeout: 120_000 }, async (task) => {
    for (const difficulty of [null, 0.5]) {
      const config = await engine.canonicalizeConfig(
        task,
        difficulty === null ? {} : ladders.configAt(task, difficulty),
      )
      for (const item of await items(task, 2, config)) {
        if (item.rightKey === null || !item.isAnswerable) continue
        expect(await item.score([item.rightKey]), item.question).toEqual([1])
      }
    }
  })
})

describe('bounds', () => {
  const long = ['9'.repeat(65_536), '('.repeat(65_536), '$'.repeat(65_536), '\\boxed{'.repeat(9000), ' '.repeat(65_536)]
  it.each(TASK_NAMES)('long answers to %s are scored soon', { timeout: 120_000 }, async (task) => {
    if (['codeio', 'simple_integration', 'intermediate_integration'].includes(task)) return
    const [item] = await items(task, 1)
    await item?.score(['warm'])
    for (const text of long) {
      const cpuMs = startCpuClock()
      await item?.score([text])
      expect(cpuMs(), text.slice(0, 8)).toBeLessThan(500)
    }
  })
})

function allZero(numbers: readonly number[]): boolean {
  return numbers.every((number) => number === 0)
}

function allOne(numbers: readonly number[]): boolean {
  return numbers.every((number) => number === 1)
}

function hiddenDigits(item: HardenedItem): string {
  return `0e0*(${field<number[]>(item, 'numbers').join('+')})+${field<number>(item, 'target')}e0`
}

function allPremises(item: HardenedItem): string {
  return field<string[]>(item, 'premises')
    .map((premise) => `(${premise})`)
    .join(' ∧ ')
}

function offByHalf(item: HardenedItem): string {
  const numbers = oracle(item).match(/-?[\d.]+/g) ?? []
  return JSON.stringify(numbers.map((number) => String(Number(number) + 0.5)))
}

function product(factors: string): string {
  return String(factors.split(' × ').reduce((result, factor) => result * Number(factor), 1))
}

function madeUpLadder(item: HardenedItem): string {
  const [start, end] = [field<string>(item, 'start_word'), field<string>(item, 'end_word')]
  const [first, last] = [`QQQ${start.slice(3)}`, `QQQ${end.slice(3)}`]
  const steps = [
    start,
    `Q${start.slice(1)}`,
    `QQ${start.slice(2)}`,
    first,
    last,
    `QQ${end.slice(2)}`,
    `Q${end.slice(1)}`,
    end,
  ]
  return steps.filter((word, i) => word !== steps[i - 1]).join(',')
}

function inverse(move: string): string {
  return move.endsWith("'") ? move.slice(0, -1) : `${move}'`
}

function parts(item: HardenedItem): number[] {
  return [field<number>(item, 'simplified_numerator'), field<number>(item, 'simplified_denominator')]
}

/** The right grid but for its last blank, where the next digit stands. */
function lastBlankWrong(item: HardenedItem): string {
  const [puzzle, solution] = [field<number[][]>(item, 'puzzle').flat(), field<number[][]>(item, 'solution').flat()]
  const at = puzzle.lastIndexOf(0)
  const cells = solution.map((cell, i) => (i === at ? (cell % 4) + 1 : cell))
  return [0, 4, 8, 12].map((row) => cells.slice(row, row + 4).join(' ')).join('\n')
}
