/** Whether a formula holds under every assignment, by a truth table of up to 1,024 rows at a time. */
import type { Operator, Step } from './formula.ts'

/** The library lists all 2 ** n assignments before it looks at one: of 20 variables that takes seconds and gigabytes. */
const MAX_VARIABLES = 20
/** In steps for 32 rows: about 10 ms here, 10 s of the library's. */
const MAX_WORK = 2 ** 21
const WORD_BITS = 5
const ROW_BITS = 10
const PATTERNS = [0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff].map((zeros) => ~zeros)

/** The table would take longer than anybody waits. */
export class TooLarge extends Error {}

type Column = Int32Array

/** Throws TooLarge. Rows come in the library's order and a row that fails ends the work, so it is seldom done in full. */
export function holdsAlways(formula: readonly Step[]): boolean {
  const variables = new Set<string>()
  for (const step of formula) if (step.kind === 'variable') variables.add(step.name)
  const names = [...variables].sort()
  if (names.length > MAX_VARIABLES) throw new TooLarge('too many variables')
  const places = new Map(names.map((name, i) => [name, i]))
  const blocks = 2 ** Math.max(0, names.length - ROW_BITS)
  const words = 2 ** Math.min(Math.max(0, names.length - WORD_BITS), ROW_BITS - WORD_BITS)
  const stack = new Stack(words)
  let work = 0
  for (let block = 0; block < blocks; block++) {
    work += formula.length * words
    if (work > MAX_WORK) throw new TooLarge('too large a truth table')
    const result = evaluate(formula, stack, (name, column) => fill(column, places.get(name) ?? 0, block))
    if (result.some((rows) => rows !== -1)) return false
  }
  return true
}

/** Columns that are kept from one block to the next. */
class Stack {
  readonly #words: number
  readonly #columns: Column[] = []

  constructor(words: number) {
    this.#words = words
  }

  at(height: number): Column {
    const column = this.#columns[height] ?? new Int32Array(this.#words)
    this.#columns[height] = column
    return column
  }
}

function evaluate(formula: readonly Step[], stack: Stack, fill: (name: string, column: Column) => void): Column {
  let height = 0
  for (const step of formula) {
    if (step.kind === 'variable') {
      fill(step.name, stack.at(height++))
    } else if (step.operator === '¬') {
      const column = stack.at(height - 1)
      for (let i = 0; i < column.length; i++) column[i] = ~(column[i] ?? 0)
    } else {
      height--
      combine(step.operator, stack.at(height - 1), stack.at(height))
    }
  }
  return stack.at(height - 1)
}

function combine(operator: Operator, left: Column, right: Column): void {
  for (let i = 0; i < left.length; i++) {
    const a = left[i] ?? 0
    const b = right[i] ?? 0
    left[i] = operator === '∧' ? a & b : operator === '∨' ? a | b : operator === '→' ? ~a | b : ~(a ^ b)
  }
}

/** Bit `place` of each row's number: within a word, within a block, or the same for the whole block. */
function fill(column: Column, place: number, block: number): void {
  if (place < PATTERNS.length) column.fill(PATTERNS[place] ?? 0)
  else if (place >= ROW_BITS) column.fill((block >> (place - ROW_BITS)) & 1 ? -1 : 0)
  else for (let i = 0; i < column.length; i++) column[i] = (i >> (place - PATTERNS.length)) & 1 ? -1 : 0
}
