/** Rules of logic puzzles, and the truth tables that decide whether a conclusion follows. */
import { z } from 'zod'
import { type FormulaStep, type LogicalOperator, parseFormula } from './formula.ts'
import { lower, splitWhitespace, strip } from './python/text.ts'
import { defineOracleScorer, defineScorer, InvalidAnswerError } from './scorer.ts'

const ROLES = new Set(
  'knight knave pioneer laggard saint sinner hero villain angel devil altruist egoist sage fool'.split(' '),
)
const ARTICLES = new Set(['is', 'a', 'an'])

/** Names with their roles in any order; 0.3 to 1 where some of as many are right. Rule of `reasoning_gym/logic/knights_knaves.py`. */
export const knightsKnaves = defineOracleScorer((answer, oracle) => {
  if (answer === '') return 0
  const [wanted, given] = [parseAssignments(oracle), parseAssignments(answer)]
  if (wanted.size !== given.size) return 0
  const right = wanted.intersection(given).size
  if (right === wanted.size) return 1
  return right > 0 ? 0.3 + (0.7 * right) / wanted.size : 0
})

/** `name role` for each role that follows a word, which then is a name. */
function parseAssignments(text: string): Set<string> {
  const bare = strip(lower(text)).replaceAll(/[.,()]/g, ' ')
  const assignments = new Set<string>()
  let name: string | undefined
  for (const word of splitWhitespace(bare.replaceAll(' and ', ' '))) {
    if (ARTICLES.has(word)) continue
    if (!ROLES.has(word)) {
      name = word
    } else if (name !== undefined) {
      assignments.add(`${name} ${word}`)
      name = undefined
    }
  }
  return assignments
}

/** A conclusion that follows from the premises; 0.25 for a bare variable or a tautology, 0.05 for any other. Rule of `reasoning_gym/logic/propositional_logic.py`. */
export const propositionalLogic = defineScorer({
  metadata: z.looseObject({ premises: z.array(z.string()), variables: z.array(z.string()) }),
  score(answer, { metadata }) {
    const capitals = answer.match(/[A-Z]/g) ?? []
    if (capitals.some((letter) => !metadata.variables.includes(letter))) return 0
    const premises = metadata.premises.map((premise) => parseFormula(premise) ?? [])
    const conclusion = parseFormula(answer)
    if (conclusion === undefined) return 0
    if (!isTautology(buildImplication(premises, conclusion))) return 0.05
    return conclusion.length === 1 || isTautology(conclusion) ? 0.25 : 1
  },
})

/** p → (q → (… → conclusion)), in postfix. */
function buildImplication(premises: readonly FormulaStep[][], conclusion: readonly FormulaStep[]): FormulaStep[] {
  const arrows = premises.map((): FormulaStep => ({ kind: 'operator', operator: '→' }))
  return [...premises.flat(), ...conclusion, ...arrows]
}

/** The library lists all 2 ** n assignments before it looks at one: of 20 variables that takes seconds and gigabytes. */
const MAX_VARIABLES = 20
/** In steps for 32 rows: about 10 ms here, 10 s of the library's. */
const MAX_WORK = 2 ** 21
const WORD_BITS = 5
const ROW_BITS = 10
const BIT_PATTERNS = [0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff].map((zeros) => ~zeros)

type Column = Int32Array

/**
 * Whether a formula holds under every assignment, by a truth table of up to 1,024 rows at a time. Throws InvalidAnswerError where
 * the table would take too long. Rows come in the library's order and a row that fails ends the work, so it is rarely done in full.
 */
function isTautology(formula: readonly FormulaStep[]): boolean {
  const variables = new Set<string>()
  for (const step of formula) if (step.kind === 'variable') variables.add(step.name)
  const names = [...variables].sort()
  if (names.length > MAX_VARIABLES) throw new InvalidAnswerError('too many variables')
  const places = new Map(names.map((name, i) => [name, i]))
  const blocks = 2 ** Math.max(0, names.length - ROW_BITS)
  const words = 2 ** Math.min(Math.max(0, names.length - WORD_BITS), ROW_BITS - WORD_BITS)
  const stack = new ColumnStack(words)
  let work = 0
  for (let block = 0; block < blocks; block++) {
    work += formula.length * words
    if (work > MAX_WORK) throw new InvalidAnswerError('too large a truth table')
    const result = evaluate(formula, stack, (name, column) => fillColumn(column, places.get(name) ?? 0, block))
    if (result.some((rows) => rows !== -1)) return false
  }
  return true
}

/** Columns that are kept from one block to the next. */
class ColumnStack {
  readonly #words: number
  readonly #columns: Column[] = []

  constructor(words: number) {
    this.#words = words
  }

  getColumn(height: number): Column {
    const column = this.#columns[height] ?? new Int32Array(this.#words)
    this.#columns[height] = column
    return column
  }
}

function evaluate(
  formula: readonly FormulaStep[],
  stack: ColumnStack,
  fill: (name: string, column: Column) => void,
): Column {
  let height = 0
  for (const step of formula) {
    if (step.kind === 'variable') {
      fill(step.name, stack.getColumn(height++))
    } else if (step.operator === '¬') {
      const column = stack.getColumn(height - 1)
      for (let i = 0; i < column.length; i++) column[i] = ~(column[i] ?? 0)
    } else {
      height--
      applyBinaryOperator(step.operator, stack.getColumn(height - 1), stack.getColumn(height))
    }
  }
  return stack.getColumn(height - 1)
}

function applyBinaryOperator(operator: LogicalOperator, left: Column, right: Column): void {
  for (let i = 0; i < left.length; i++) {
    const a = left[i] ?? 0
    const b = right[i] ?? 0
    left[i] = operator === '∧' ? a & b : operator === '∨' ? a | b : operator === '→' ? ~a | b : ~(a ^ b)
  }
}

/** Bit `place` of each row's number: within a word, within a block, or the same for the whole block. */
function fillColumn(column: Column, place: number, block: number): void {
  if (place < BIT_PATTERNS.length) column.fill(BIT_PATTERNS[place] ?? 0)
  else if (place >= ROW_BITS) column.fill((block >> (place - ROW_BITS)) & 1 ? -1 : 0)
  else for (let i = 0; i < column.length; i++) column[i] = (i >> (place - BIT_PATTERNS.length)) & 1 ? -1 : 0
}
