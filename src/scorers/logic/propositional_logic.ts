/** A conclusion that follows from the premises; 0.25 for a bare variable or a tautology, 0.05 for any other. Rule of `reasoning_gym/logic/propositional_logic.py`. */
import { z } from 'zod'
import { defineScorer, InvalidAnswer } from '../scorer.ts'
import { parseFormula, type Step, TooDeep } from './formula.ts'
import { holdsAlways, TooLarge } from './truth_table.ts'

export const propositionalLogic = defineScorer({
  metadata: z.looseObject({ premises: z.array(z.string()), variables: z.array(z.string()) }),
  score(answer, { metadata }) {
    const capitals = answer.match(/[A-Z]/g) ?? []
    if (capitals.some((letter) => !metadata.variables.includes(letter))) return 0
    const premises = metadata.premises.map((premise) => parseFormula(premise) ?? [])
    try {
      const conclusion = parseFormula(answer)
      if (conclusion === undefined) return 0
      if (!holdsAlways(implication(premises, conclusion))) return 0.05
      return conclusion.length === 1 || holdsAlways(conclusion) ? 0.25 : 1
    } catch (error) {
      if (error instanceof TooDeep || error instanceof TooLarge) throw new InvalidAnswer(error.message)
      throw error
    }
  },
})

/** p → (q → (… → conclusion)), in postfix. */
function implication(premises: readonly Step[][], conclusion: readonly Step[]): Step[] {
  const arrows = premises.map((): Step => ({ kind: 'operator', operator: '→' }))
  return [...premises.flat(), ...conclusion, ...arrows]
}
