/** Corrections of grids and graphs: other solutions are right, rules that fit may disagree, and each vertex has one color. */
import { z } from 'zod'
import { splitWhitespace, strip } from '../python/text.ts'
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

const Grid = z.array(z.array(z.int()))
const SurvoMetadata = z.looseObject({ puzzle: Grid, candidate_numbers: z.array(z.int()) })
type Puzzle = z.infer<typeof SurvoMetadata>
const NUMBER_PATTERN = /^\d{1,15}$/

export const survo: Correction = {
  reason: 'Some puzzles have several solutions, of which only the key is paid.',
  decide: ({ entry }) => {
    const puzzle = SurvoMetadata.parse(entry.metadata)
    return (answer) => (isSolution(puzzle, answer) ? true : undefined)
  },
}

function isSolution({ puzzle, candidate_numbers: numbers }: Puzzle, answer: string): boolean {
  const lines = strip(answer).split('\n')
  if (lines.length !== puzzle.length) return false
  const words = lines.map((line) => splitWhitespace(line))
  if (words.some((row) => row.length !== puzzle.length || !row.every((word) => NUMBER_PATTERN.test(word)))) return false
  const rows = words.map((row) => row.map(Number))
  const columns = rows.map((_, j) => rows.map((row) => row[j] ?? 0))
  const used = rows.flatMap((row, i) => row.filter((_, j) => puzzle[i]?.[j] === 0))
  const keepsGivens = rows.every((row, i) => row.every((n, j) => puzzle[i]?.[j] === 0 || puzzle[i]?.[j] === n))
  return keepsGivens && [...rows, ...columns].every(hasSum) && sorted(used) === sorted(numbers)
}

/** The last number is the sum of the others. */
function hasSum(line: readonly number[]): boolean {
  return line.slice(0, -1).reduce((sum, n) => sum + n, 0) === line.at(-1)
}

function sorted(numbers: readonly number[]): string {
  return numbers.toSorted((a, b) => a - b).join()
}

const MAX_DIVISOR = 100
const RULES: readonly ((x: number, y: number, divisor: number) => number)[] = [
  (x, y, divisor) => (x + y) % divisor,
  (x, y, divisor) => Math.abs(x - y) % divisor,
  (x, y, divisor) => (x * y) % divisor,
  powerModulo,
]

interface Cell {
  x: number
  y: number
  isOn: boolean
}

function powerModulo(base: number, exponent: number, divisor: number): number {
  let [result, square] = [divisor === 1 ? 0 : 1, base % divisor]
  for (let left = exponent; left > 0; left >>= 1) {
    if (left & 1) result = (result * square) % divisor
    square = (square * square) % divisor
  }
  return result
}

/** False where rules that fit disagree about a gap, and where no cell that is seen is on: then any rule may fit. */
function isDetermined({ question, answer }: DatasetEntry): boolean {
  const rows = question.slice(question.lastIndexOf('\n\n') + 2).split('\n')
  const cells = rows.flatMap((row, y) => [...row].map((sign, x) => ({ x, y, sign, isOn: sign === '✅' })))
  const seen = cells.filter(({ sign }) => sign !== '❔')
  const on = seen.filter(({ isOn }) => isOn)
  const solution = (answer ?? '').split('\n').map((row) => [...row])
  const gaps = cells.filter(({ sign }) => sign === '❔').map(({ x, y }) => ({ x, y, isOn: solution[y]?.[x] === '✅' }))
  return on.length > 0 && !RULES.some((rule) => hasOtherFit(rule, on, seen, gaps))
}

/** Whether a divisor and a remainder fit all that is seen, and not the key. */
function hasOtherFit(rule: (typeof RULES)[number], on: readonly Cell[], seen: readonly Cell[], gaps: readonly Cell[]) {
  const [first] = on
  for (let divisor = 1; first !== undefined && divisor <= MAX_DIVISOR; divisor++) {
    const rest = rule(first.x, first.y, divisor)
    const fits = ({ x, y, isOn }: Cell) => (rule(x, y, divisor) === rest) === isOn
    if (!gaps.every(fits) && on.every(fits) && seen.every(fits)) return true
  }
  return false
}

export const moduloGrid: Correction = {
  reason: 'Where few cells of the pattern are seen, rules that fit all of them fill the gaps in different ways.',
  hasRightAnswer: isDetermined,
}

const Graph = z.looseObject({ puzzle: z.looseObject({ vertices: z.array(z.int()) }) })
const Coloring = z.record(z.string(), z.int())

export const graphColor: Correction = {
  reason: 'A list, a color `true`, a vertex that the graph lacks and a vertex with two colors are let pass.',
  decide: ({ entry }) => {
    const { vertices } = Graph.parse(entry.metadata).puzzle
    return (answer) => {
      const coloring = parse(answer)
      // A name that comes twice is one in the parsed object, but has two colons.
      const hasOneEach =
        answer.split(':').length - 1 === vertices.length && Object.keys(coloring).length === vertices.length
      return hasOneEach && vertices.every((vertex) => Object.hasOwn(coloring, vertex)) ? undefined : false
    }
  },
}

function parse(answer: string): Record<string, number> {
  try {
    return Coloring.safeParse(JSON.parse(answer)).data ?? {}
  } catch {
    return {}
  }
}
