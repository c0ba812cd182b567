/** Propositional logic: a conclusion must follow, say something, and say something new. */
import { z } from 'zod'
import { parseFormula, type Step, TooDeep } from '../logic/formula.ts'
import { type Hardening, isWhole } from './hardening.ts'
import { bareReading } from './readings.ts'

/** Truth tables of more variables than these would take too long; the library's verdict then stands. */
const MAX_VARIABLES = 12
const MAX_STEPS = 8000
const SYMBOLS: readonly (readonly [RegExp, string])[] = [
  [/\\(?:land|wedge)(?![a-z])/g, '∧'],
  [/\\(?:lor|vee)(?![a-z])/g, '∨'],
  [/\\(?:lnot|neg)(?![a-z])/g, '¬'],
  [/\\(?:leftrightarrow|iff)(?![a-z])/gi, '↔'],
  [/\\(?:rightarrow|to|implies)(?![a-z])/gi, '→'],
]

/** A formula's truth under every assignment, one bit for each. */
type Table = bigint

/**
 * 1 for a conclusion that says something new and no less than it could. Values of variables (`¬P ∧ Q`) are new if one
 * of them stands in no premise as plainly. Anything else is no premise or conjunction of premises, has none of the
 * compound ones as a part, and says nothing of a variable that it could do without (`P ∨ Q` where `P` follows). Premises
 * that contradict each other entail everything, so nothing is worth anything there.
 */
export const propositionalLogic: Hardening = ({ entry, upstream }) => {
  const { premises, variables } = z
    .looseObject({ premises: z.array(z.string()), variables: z.array(z.string()) })
    .parse(entry.metadata)
  if (variables.length > MAX_VARIABLES) {
    return (answer) => (!premises.includes(bareReading(answer)) && isWhole(upstream(bareReading(answer))) ? 1 : 0)
  }
  const logic = new Logic(variables)
  const formulas = premises.map((premise) => parseFormula(premise) ?? [])
  const given = formulas.map((steps) => ({ table: logic.tables(steps)?.at(-1) ?? logic.all, isPlain: isPlain(steps) }))
  return (answer) => {
    const steps = stepsOf(answer)
    const parts = steps && logic.tables(steps)
    return parts !== undefined && logic.isNews(given, { parts, isPlain: isPlain(steps ?? []) }) ? 1 : 0
  }
}

interface Premise {
  table: Table
  isPlain: boolean
}

/** Variables, negated or not, joined by ∧ alone. */
function isPlain(steps: readonly Step[]): boolean {
  return steps.every((step, i) =>
    step.kind === 'variable'
      ? true
      : step.operator === '∧' || (step.operator === '¬' && steps[i - 1]?.kind === 'variable'),
  )
}

function stepsOf(answer: string): Step[] | undefined {
  const text = SYMBOLS.reduce((plain, [command, symbol]) => plain.replaceAll(command, symbol), bareReading(answer))
  try {
    const steps = parseFormula(text)
    return steps !== undefined && steps.length <= MAX_STEPS ? steps : undefined
  } catch (error) {
    if (error instanceof TooDeep) return undefined
    throw error
  }
}

class Logic {
  /** Every assignment. */
  readonly all: Table
  readonly #variables: ReadonlyMap<string, Table>

  constructor(variables: readonly string[]) {
    const rows = 2 ** variables.length
    this.all = (1n << BigInt(rows)) - 1n
    this.#variables = new Map(variables.map((name, i) => [name, this.all - this.all / ((1n << BigInt(2 ** i)) + 1n)]))
  }

  /** The tables of all parts of a formula, itself last; undefined where a variable is none of the question's. */
  tables(steps: readonly Step[]): Table[] | undefined {
    const [stack, parts]: [Table[], Table[]] = [[], []]
    for (const step of steps) {
      const table = step.kind === 'variable' ? this.#variables.get(step.name) : this.#applied(step.operator, stack)
      if (table === undefined) return undefined
      stack.push(table)
      parts.push(table)
    }
    return parts.length > 0 ? parts : undefined
  }

  /** `parts` are the tables of all parts of the conclusion, itself last. */
  isNews(premises: readonly Premise[], { parts, isPlain }: { parts: readonly Table[]; isPlain: boolean }): boolean {
    const known = this.#and(premises.map(({ table }) => table))
    const conclusion = parts.at(-1) ?? this.all
    if (known === 0n || conclusion === this.all || !this.#follows(known, conclusion)) return false
    if (isPlain) {
      const plain = premises.filter((premise) => premise.isPlain)
      return this.#valuesIn(conclusion).some((value) => !plain.some(({ table }) => this.#follows(table, value)))
    }
    const repeated = premises.map(({ table }) => table).filter((table) => this.#follows(conclusion, table))
    if (repeated.length > 0 && this.#and(repeated) === conclusion) return false
    if (premises.some(({ table }) => this.#isCompound(table) && parts.includes(table))) return false
    return this.#isTight(known, conclusion)
  }

  /** Each variable that matters either follows from the conclusion itself or is free, and without it less would follow. */
  #isTight(known: Table, conclusion: Table): boolean {
    return [...this.#variables.values()].every((variable, i) => {
      const without = this.#without(conclusion, variable, BigInt(2 ** i))
      if (without === conclusion) return true
      const [value] = this.#valuesIn(known, variable)
      return value === undefined ? !this.#follows(known, without) : this.#follows(conclusion, value)
    })
  }

  /** The variables, or negations of them, that follow from a table. */
  #valuesIn(table: Table, ...variables: Table[]): Table[] {
    const all = variables.length > 0 ? variables : [...this.#variables.values()]
    return all.flatMap((variable) => [variable, this.all ^ variable]).filter((value) => this.#follows(table, value))
  }

  #applied(operator: '↔' | '→' | '∨' | '∧' | '¬', stack: Table[]): Table | undefined {
    const right = stack.pop()
    const left = operator === '¬' ? 0n : stack.pop()
    if (left === undefined || right === undefined) return undefined
    if (operator === '¬') return this.all ^ right
    if (operator === '∧') return left & right
    if (operator === '∨') return left | right
    return operator === '→' ? (this.all ^ left) | right : this.all ^ left ^ right
  }

  #and(tables: readonly Table[]): Table {
    return tables.reduce((both, table) => both & table, this.all)
  }

  #follows(from: Table, table: Table): boolean {
    return (from & (this.all ^ table)) === 0n
  }

  /** Neither the values of some variables nor the same under every assignment. */
  #isCompound(table: Table): boolean {
    if (table === 0n || table === this.all) return false
    return this.#and(this.#valuesIn(table)) !== table
  }

  #without(table: Table, variable: Table, step: bigint): Table {
    const both = ((table & variable) >> step) & table & (this.all ^ variable)
    return both | (both << step)
  }
}
