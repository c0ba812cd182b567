/** A conclusion that follows from the premises; 0.25 for a bare variable or a tautology, 0.05 for any other. Rule of `reasoning_gym/logic/propositional_logic.py`. */
import { z } from 'zod'
import { defineScorer, InvalidAnswerError } from '../scorer.ts'
import { type FormulaStep, FormulaTooDeepError, parseFormula } from './formula.ts'
import { isTautology, TruthTableTooLargeError } from './truth-table.ts'

export const propositionalLogic = defineScorer({
  metadata: z.looseObject({ premises: z.array(z.string()), variables: z.array(z.string()) }),
  score(answer, { metadata }) {
    const capitals = answer.match(/[A-Z]/g) ?? []
    if (capitals.some((letter) => !metadata.variables.includes(letter))) return 0
    const premises = metadata.premises.map((premise) => parseFormula(premise) ?? [])
    try {
      const conclusion = parseFormula(answer)
      if (conclusion === undefined) return 0
      if (!isTautology(buildImplication(premises, conclusion))) return 0.05
      return conclusion.length === 1 || isTautology(conclusion) ? 0.25 : 1
    } catch (error) {
      if (error instanceof FormulaTooDeepError || error instanceof TruthTableTooLargeError)
        throw new InvalidAnswerError(error.message)
      throw error
    }
  },
})

/** p → (q → (… → conclusion)), in postfix. */
function buildImplication(premises: readonly FormulaStep[][], conclusion: readonly FormulaStep[]): FormulaStep[] {
  const arrows = premises.map((): FormulaStep => ({ kind: 'operator', operator: '→' }))
  return [...premises.flat(), ...conclusion, ...arrows]
}
