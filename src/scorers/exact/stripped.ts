/** Equal without letter case and outer white space. Rule of `reasoning_gym/graphs/family_relationships.py` and `reasoning_gym/cognition/color_cube_rotation.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { lower, strip } from '../python/text.ts'
import { defineScorer, type Scorer } from '../scorer.ts'

export const familyRelationships = stripped(0)
export const colorCubeRotation = stripped(0.01)

function stripped(floor: number): Scorer<unknown> {
  return defineScorer({
    metadata: z.unknown(),
    score: (answer, entry) => (lower(strip(answer)) === lower(strip(oracleOf(entry))) ? 1 : floor),
  })
}
