/** Each root given takes the nearest one wanted, e^(-10·distance); half a point off for each missing or extra. Rule of `reasoning_gym/algebra/polynomial_equations.py`. */
import { z } from 'zod'
import { tryParseFloat64 } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const DECAY = -10
const PENALTY = 0.5

export const polynomialEquations = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    const wanted = parseRoots(requireOracleAnswer(entry))
    const given = parseRoots(answer)
    if (wanted.length === 0 && given.length === 0) return 1
    let [reward, matched] = [0, 0]
    for (const root of given) {
      const nearest = findNearest(root, wanted)
      if (nearest === undefined) continue
      reward += Math.exp(nearest.distance * DECAY)
      matched++
      wanted.splice(nearest.index, 1)
    }
    const penalty = (wanted.length + given.length - matched) * PENALTY
    return Math.max(0, (matched > 0 ? reward / matched : 0) - penalty)
  },
})

/** Sorted as Python does, NaN and all: V8's sort is a port of CPython's. */
function parseRoots(text: string): number[] {
  const roots = text.split(',').map((part) => tryParseFloat64(strip(part)))
  return roots.filter((root) => root !== undefined).sort((a, b) => (a < b ? -1 : 1))
}

function findNearest(root: number, wanted: readonly number[]): { index: number; distance: number } | undefined {
  let nearest: { index: number; distance: number } | undefined
  for (const [index, other] of wanted.entries()) {
    const distance = Math.abs(root - other)
    if (distance < (nearest?.distance ?? Infinity)) nearest = { index, distance }
  }
  return nearest
}
