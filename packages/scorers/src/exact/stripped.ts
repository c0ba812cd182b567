/** Equal without letter case and outer white space. Rule of `reasoning_gym/graphs/family_relationships.py` and `reasoning_gym/cognition/color_cube_rotation.py`. */
import { z } from 'zod'
import { requireOracleAnswer } from '../oracle-answer.ts'
import { lower, strip } from '../python/text.ts'
import { defineScorer, type Scorer } from '../scorer.ts'

export const familyRelationships = createStrippedMatch(0)
export const colorCubeRotation = createStrippedMatch(0.01)

function createStrippedMatch(floor: number): Scorer<unknown> {
  return defineScorer({
    metadata: z.unknown(),
    score: (answer, entry) => (lower(strip(answer)) === lower(strip(requireOracleAnswer(entry))) ? 1 : floor),
  })
}
