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
 * 1 for a conclusion that is all that the premises say of its variables (of `P` alone, not `P ∨ Q`), and that is no
 * premise, no conjunction of premises, no tautology, and holds no compound premise as a part. Premises that contradict
 * each other entail everything, so nothing is worth anything there.
 */
export const propositionalLogic: Hardening = ({ entry, upstream }) => {
  const { premises, variables } = z
    .looseObject({ premises: z.array(z.string()), variables: z.array(z.string()) })
    .parse(entry.metadata)
  if (variables.length > MAX_VARIABLES) {
    return (answer) => (!premises.includes(bareReading(answer)) && isWhole(upstream(bareReading(answer))) ? 1 : 0)
  }
  const logic = new Logic(variables)
  const given = premises.map((premise) => logic.tables(parseFormula(premise) ?? [])?.at(-1) ?? logic.all)
  return (answer) => {
    const tables = formulaOf(answer, (steps) => logic.tables(steps))
    return tables !== undefined && logic.isNews(given, tables) ? 1 : 0
  }
}

function formulaOf(answer: string, read: (steps: Step[]) => Table[] | undefined): Table[] | undefined {
  const text = SYMBOLS.reduce((plain, [command, symbol]) => plain.replaceAll(command, symbol), bareReading(answer))
  try {
    const steps = parseFormula(text)
    return steps === undefined || steps.length > MAX_STEPS ? undefined : read(steps)
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

  isNews(premises: readonly Table[], parts: readonly Table[]): boolean {
    const known = this.#and(premises)
    const conclusion = parts.at(-1) ?? this.all
    if (known === 0n || conclusion === this.all || !this.#follows(known, conclusion)) return false
    const repeated = premises.filter((premise) => this.#follows(conclusion, premise))
    if (repeated.length > 0 && this.#and(repeated) === conclusion) return false
    if (premises.some((premise) => this.#isCompound(premise) && parts.includes(premise))) return false
    return [...this.#variables.values()].every((variable, i) => {
      const without = this.#without(conclusion, variable, BigInt(2 ** i))
      if (without === conclusion) return true
      const value = [variable, this.all ^ variable].find((literal) => this.#follows(known, literal))
      return value === undefined ? !this.#follows(known, without) : this.#follows(conclusion, value)
    })
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

  /** Neither a variable nor its negation nor the same under every assignment. */
  #isCompound(table: Table): boolean {
    if (table === 0n || table === this.all) return false
    return ![...this.#variables.values()].some((variable) => table === variable || table === (this.all ^ variable))
  }

  #without(table: Table, variable: Table, step: bigint): Table {
    const both = ((table & variable) >> step) & table & (this.all ^ variable)
    return both | (both << step)
  }
}
