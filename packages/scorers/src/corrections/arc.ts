/** arc_1d and rearc: examples that fit several rules or contradict theirs, and inputs in which nothing is to change. */
import { z } from 'zod'
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

type Row = readonly number[]
/** Undefined where the rule says nothing about a row. */
type Rule = (row: Row) => Row | undefined

const Pair = z.looseObject({ input: z.array(z.int()), output: z.array(z.int()) })
const RowPuzzle = z.looseObject({ train_examples: z.array(Pair), test_example: Pair })
type Pair = z.infer<typeof Pair>

const mirror = (rule: Rule): Rule => {
  return (row) => rule(row.toReversed())?.toReversed()
}

const rotate = (n: number): Rule => {
  return (row) => [...row.slice(-n), ...row.slice(0, -n)]
}

const gravitate: Rule = (row) => [...row.filter((color) => color !== 0), ...row.filter((color) => color === 0)]

const sortDown: Rule = (row) => row.toSorted((a, b) => b - a)

const moveByOwnSize: Rule = (row) => rotate(row.filter((color) => color !== 0).length)(row)

/** Each cell goes one to the left where that is free. */
const stepLeft: Rule = (row) => {
  const moved = [...row]
  for (let k = 1; k < moved.length; k++) {
    if (moved[k - 1] === 0) [moved[k - 1], moved[k]] = [moved[k] ?? 0, 0]
  }
  return moved
}

/** The block left of the dot, which is 2, goes up to n cells to the right, until it touches it. */
const approachDot = (n: number): Rule => {
  return (row) => {
    const [start, dot] = [row.findIndex((color) => color > 2), row.indexOf(2)]
    const end = row.findLastIndex((color) => color > 2) + 1
    if (start < 0 || end > dot) return undefined
    const move = Math.min(n, dot - end)
    return [...Array<number>(move).fill(0), ...row.slice(0, dot - move), ...row.slice(dot)]
  }
}

/** The cell left of a block is the end of blocks as long as that, with a gap between. */
const repeatBlock: Rule = (row) => {
  const start = row.findIndex((color) => color !== 0)
  const size = row.findLastIndex((color) => color !== 0) - start
  const color = row[start]
  if (color === undefined || size < 2 || color === row[start + 1]) return undefined
  return row.map((given, k) => (k > start ? given : (start - k) % (size + 1) < size ? color : 0))
}

const APPROACHES = [1, 2, 3, 4, Infinity].map(approachDot).map(
  (rule): Rule =>
    (row) =>
      rule(row) ?? mirror(rule)(row),
)
/** Rules that fit the examples of another one by chance. */
const CHANCE_RULES: readonly Rule[] = [
  (row) => row,
  ...[gravitate, sortDown, moveByOwnSize, stepLeft, repeatBlock, ...[1, 2, 3, 4].map(rotate)].flatMap((rule) => [
    rule,
    mirror(rule),
  ]),
  (row) => repeatBlock(row) ?? mirror(repeatBlock)(row),
  ...APPROACHES,
]

function hasOneRule({ metadata }: DatasetEntry): boolean {
  const { train_examples: examples, test_example: test } = RowPuzzle.parse(metadata)
  return (
    !isSame(test.input, test.output) && CHANCE_RULES.every((rule) => !examples.every(fits(rule)) || agrees(rule, test))
  )
}

function fits(rule: Rule): (pair: Pair) => boolean {
  return ({ input, output }) => isSame(output, rule(input))
}

function agrees(rule: Rule, { input, output }: Pair): boolean {
  const found = rule(input)
  return found === undefined || isSame(output, found)
}

function isSame(a: Row, b: Row | undefined): boolean {
  return a.length === b?.length && a.every((color, k) => color === b[k])
}

export const arc1d: Correction = {
  reason: 'The examples fit several rules with different outputs, or the rule changes nothing in the input.',
  hasRightAnswer: hasOneRule,
}

/**
 * Puzzles of RE-ARC whose generator at times contradicts their verifier, which the library has and does not ask. Found by
 * 150 pairs of each of the 400 puzzles.
 */
const DISPUTED_PUZZLES = new Set(
  (
    '05f2a901 0dfd9992 11852cab 150deff5 2013d3e2 228f6490 29ec7d0e 32597951 3345333e 3631a71a 36d67576 39e1d7f9 ' +
    '4290ef0e 447fd412 484b58aa 50846271 5521c0d9 5ad4f10b 5daaa586 681b3aeb 6a1e5592 7b7f7511 7f4411dc 855e0971 ' +
    '8731374e 8a004b2b 8efcae92 91714a58 94f9d214 97a05b5b a5313dff a64e4611 a8c38be5 bb43febb c9f8e694 ce602527 ' +
    'd07ae81c d8c310e9 dae9d2b5 ddf7fa4f e21d9049 e26a3af2 e40b9e2f f8c80d96 fafffa47'
  ).split(' '),
)
const BoardPuzzle = z.looseObject({ task_id: z.string(), input: z.unknown(), output: z.unknown() })
/** In the format of the defaults. */
const EXAMPLE_PATTERN = /Input:\n([\d \n]+)\nOutput:\n([\d \n]+?)\n\n/g
const TEST_PATTERN = /Input:\n([\d \n]+)\n$/

/** Whether some example changes and the question shows all colors of the answer. Boards in other formats are let pass. */
function canBeFound({ question, answer }: DatasetEntry): boolean {
  const examples = [...question.matchAll(EXAMPLE_PATTERN)]
  if (examples.length === 0) return true
  const boards = [...examples.map(([pair]) => pair), TEST_PATTERN.exec(question)?.[1]].join()
  return (
    examples.some(([, input, output]) => input !== output) && [...(answer ?? '')].every((sign) => boards.includes(sign))
  )
}

export const rearc: Correction = {
  reason:
    'Some generators contradict the verifier of their puzzle, or make a test or examples in which nothing changes, ' +
    'or an answer in a color that was not shown.',
  hasRightAnswer: (entry) => {
    const { task_id, input, output } = BoardPuzzle.parse(entry.metadata)
    return !DISPUTED_PUZZLES.has(task_id) && JSON.stringify(input) !== JSON.stringify(output) && canBeFound(entry)
  },
}
