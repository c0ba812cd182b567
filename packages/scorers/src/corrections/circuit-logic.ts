/** circuit_logic: a gate of one input is drawn as a wire, so it passes its input on. */
import { z } from 'zod'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({
  term_strings: z.array(z.string()),
  assignments: z.record(z.string(), z.int()),
  final_gate: z.enum(['OR', 'NOR', 'XOR', 'AND']),
})
type Metadata = z.infer<typeof Metadata>

const SIGN_PATTERN = /[&↑⊕]/

export const circuitLogic: Correction = {
  reason: 'A gate of one input is drawn as a wire, and negates its input in the key if it is a NAND or a last NOR.',
  keys({ entry }) {
    const { term_strings: terms, assignments, final_gate: last } = Metadata.parse(entry.metadata)
    if (terms.length > 1 && terms.every((term) => SIGN_PATTERN.test(term))) return undefined
    const bits = terms.map((term) => evaluateTerm(term, assignments))
    return [String(Number(bits.length === 1 ? bits[0] : passGate(last, bits)))]
  },
}

function evaluateTerm(term: string, assignments: Metadata['assignments']): boolean {
  const bits = term
    .split(SIGN_PATTERN)
    .map((input) => (assignments[input.replace("'", '')] === 1) !== input.endsWith("'"))
  const [sign] = SIGN_PATTERN.exec(term) ?? []
  return passGate(sign === '⊕' ? 'XOR' : sign === '↑' ? 'NAND' : 'AND', bits)
}

function passGate(gate: Metadata['final_gate'] | 'NAND', bits: readonly boolean[]): boolean {
  if (gate === 'XOR') return bits.filter(Boolean).length % 2 === 1
  if (gate === 'AND' || gate === 'NAND') return bits.every(Boolean) === (gate === 'AND')
  return bits.some(Boolean) === (gate === 'OR')
}
