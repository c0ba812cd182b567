/** Propositional logic: a conclusion must follow, say something, and say something new. */
import { z } from 'zod'
import { type FormulaStep, FormulaTooDeepError, parseFormula } from '../formula.ts'
import type { DatasetEntry } from '../scorer.ts'
import { type HardenedScorer, isFullScore } from './hardened-scorer.ts'
import { getBareAnswer } from './notations.ts'

/** Truth tables of more variables than these would take too long; the library's verdict then stands. */
export const MAX_VARIABLES = 12
const MAX_STEPS = 8000
const LATEX_SYMBOLS: readonly (readonly [RegExp, string])[] = [
  [/\\(?:land|wedge)(?![a-z])/g, '∧'],
  [/\\(?:lor|vee)(?![a-z])/g, '∨'],
  [/\\(?:lnot|neg)(?![a-z])/g, '¬'],
  [/\\(?:leftrightarrow|iff)(?![a-z])/gi, '↔'],
  [/\\(?:rightarrow|to|implies)(?![a-z])/gi, '→'],
]

/** A formula's truth under every assignment, one bit for each. */
type TruthTable = bigint

/**
 * 1 for a conclusion that says something new and no less than it could. Values of variables (`¬P ∧ Q`) are new if one
 * of them stands in no premise as plainly. Anything else is no premise or conjunction of premises, has none of the
 * compound ones as a part, and says nothing of a variable that it could do without (`P ∨ Q` where `P` follows). Premises
 * that contradict each other entail everything, so nothing is worth anything there.
 */
export const propositionalLogic: HardenedScorer = ({ entry, upstream }) => {
  const { premises, variables } = z
    .looseObject({ premises: z.array(z.string()), variables: z.array(z.string()) })
    .parse(entry.metadata)
  if (variables.length > MAX_VARIABLES) {
    return (answer) =>
      !premises.includes(getBareAnswer(answer)) && isFullScore(upstream(getBareAnswer(answer))) ? 1 : 0
  }
  const logic = new TruthTableLogic(variables)
  const formulas = premises.map((premise) => parseFormula(premise) ?? [])
  const given = formulas.map((steps) => ({
    table: logic.evaluateParts(steps)?.at(-1) ?? logic.all,
    isPlain: isLiteralConjunction(steps),
  }))
  return (answer) => {
    const steps = parseAnswerFormula(answer)
    const parts = steps && logic.evaluateParts(steps)
    return parts !== undefined && logic.isNovelConclusion(given, { parts, isPlain: isLiteralConjunction(steps ?? []) })
      ? 1
      : 0
  }
}

interface Premise {
  table: TruthTable
  isPlain: boolean
}

/** Variables, negated or not, joined by ∧ alone. */
function isLiteralConjunction(steps: readonly FormulaStep[]): boolean {
  return steps.every((step, i) =>
    step.kind === 'variable'
      ? true
      : step.operator === '∧' || (step.operator === '¬' && steps[i - 1]?.kind === 'variable'),
  )
}

function parseAnswerFormula(answer: string): FormulaStep[] | undefined {
  const text = LATEX_SYMBOLS.reduce(
    (plain, [command, symbol]) => plain.replaceAll(command, symbol),
    getBareAnswer(answer),
  )
  try {
    const steps = parseFormula(text)
    return steps !== undefined && steps.length <= MAX_STEPS ? steps : undefined
  } catch (error) {
    if (error instanceof FormulaTooDeepError) return undefined
    throw error
  }
}

export class TruthTableLogic {
  /** Every assignment. */
  readonly all: TruthTable
  readonly #variables: ReadonlyMap<string, TruthTable>

  constructor(variables: readonly string[]) {
    const rows = 2 ** variables.length
    this.all = (1n << BigInt(rows)) - 1n
    this.#variables = new Map(variables.map((name, i) => [name, this.all - this.all / ((1n << BigInt(2 ** i)) + 1n)]))
  }

  /** The tables of all parts of a formula, itself last; undefined where a variable is none of the question's. */
  evaluateParts(steps: readonly FormulaStep[]): TruthTable[] | undefined {
    const [stack, parts]: [TruthTable[], TruthTable[]] = [[], []]
    for (const step of steps) {
      const table =
        step.kind === 'variable' ? this.#variables.get(step.name) : this.#applyOperator(step.operator, stack)
      if (table === undefined) return undefined
      stack.push(table)
      parts.push(table)
    }
    return parts.length > 0 ? parts : undefined
  }

  /** `parts` are the tables of all parts of the conclusion, itself last. */
  isNovelConclusion(
    premises: readonly Premise[],
    { parts, isPlain }: { parts: readonly TruthTable[]; isPlain: boolean },
  ): boolean {
    const known = this.#conjunction(premises.map(({ table }) => table))
    const conclusion = parts.at(-1) ?? this.all
    if (known === 0n || conclusion === this.all || !this.#isEntailed(known, conclusion)) return false
    if (isPlain || !this.#isCompound(conclusion)) {
      const plain = premises.filter((premise) => premise.isPlain)
      const isNew = this.#impliedLiterals(conclusion).some(
        (value) => !plain.some(({ table }) => this.#isEntailed(table, value)),
      )
      if (isPlain || !isNew) return isNew // `P → ¬P` says no more than `¬P`
    }
    const repeated = premises.map(({ table }) => table).filter((table) => this.#isEntailed(conclusion, table))
    if (repeated.length > 0 && this.#conjunction(repeated) === conclusion) return false
    if (premises.some(({ table }) => this.#isCompound(table) && parts.includes(table))) return false
    return this.#isMinimal(known, conclusion)
  }

  /** Each variable that matters either follows from the conclusion itself or is free, and without it less would follow. */
  #isMinimal(known: TruthTable, conclusion: TruthTable): boolean {
    return [...this.#variables.values()].every((variable, i) => {
      const without = this.#eliminateVariable(conclusion, variable, BigInt(2 ** i))
      if (without === conclusion) return true
      const [value] = this.#impliedLiterals(known, variable)
      return value === undefined ? !this.#isEntailed(known, without) : this.#isEntailed(conclusion, value)
    })
  }

  /** The variables, or negations of them, that follow from a table. */
  #impliedLiterals(table: TruthTable, ...variables: TruthTable[]): TruthTable[] {
    const all = variables.length > 0 ? variables : [...this.#variables.values()]
    return all.flatMap((variable) => [variable, this.all ^ variable]).filter((value) => this.#isEntailed(table, value))
  }

  #applyOperator(operator: '↔' | '→' | '∨' | '∧' | '¬', stack: TruthTable[]): TruthTable | undefined {
    const right = stack.pop()
    const left = operator === '¬' ? 0n : stack.pop()
    if (left === undefined || right === undefined) return undefined
    if (operator === '¬') return this.all ^ right
    if (operator === '∧') return left & right
    if (operator === '∨') return left | right
    return operator === '→' ? (this.all ^ left) | right : this.all ^ left ^ right
  }

  #conjunction(tables: readonly TruthTable[]): TruthTable {
    return tables.reduce((both, table) => both & table, this.all)
  }

  #isEntailed(from: TruthTable, table: TruthTable): boolean {
    return (from & (this.all ^ table)) === 0n
  }

  /** Neither the values of some variables nor the same under every assignment. */
  #isCompound(table: TruthTable): boolean {
    if (table === 0n || table === this.all) return false
    return this.#conjunction(this.#impliedLiterals(table)) !== table
  }

  #eliminateVariable(table: TruthTable, variable: TruthTable, step: bigint): TruthTable {
    const both = ((table & variable) >> step) & table & (this.all ^ variable)
    return both | (both << step)
  }
}

const Metadata = z.looseObject({ variables: z.array(z.string()) })

/** Literals, then statements of two and three of them, the shortest first; undefined if none of them follows and is new. */
export function findNovelConclusion(entry: DatasetEntry): string | undefined {
  const score = propositionalLogic({ entry, config: {}, upstream: () => 0 })
  for (const conclusion of listConclusions(Metadata.parse(entry.metadata).variables))
    if (score(conclusion) === 1) return conclusion
  return undefined
}

/** True where no search is made, since hardened scoring then goes by the library's verdict. */
export function hasNovelConclusion(entry: DatasetEntry): boolean {
  return Metadata.parse(entry.metadata).variables.length > MAX_VARIABLES || findNovelConclusion(entry) !== undefined
}

/** Whatever follows is a conjunction of clauses; those of more than three literals are left out. */
function* listConclusions(variables: readonly string[]): Generator<string> {
  const literals = variables.flatMap((name) => [name, `¬${name}`])
  yield* literals
  for (const [first, second] of listPairs(literals)) yield `(${first} ∨ ${second})`
  for (const [first, second] of listPairs(variables)) {
    yield `(${first} ↔ ${second})`
    yield `(${first} ↔ ¬${second})`
  }
  for (const [k, first] of literals.entries())
    for (const [second, third] of listPairs(literals.slice(k + 1))) yield `(${first} ∨ (${second} ∨ ${third}))`
}

function listPairs(values: readonly string[]): [string, string][] {
  return values.flatMap((first, k) => values.slice(k + 1).map((second): [string, string] => [first, second]))
}
