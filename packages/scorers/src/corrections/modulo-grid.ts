/** modulo_grid: whether every rule that fits what is seen fills the gaps in one way. */
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

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
