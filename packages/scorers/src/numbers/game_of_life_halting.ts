/** Any answer that is not empty: to Python 'False' is as true as 'True'. Rule of `reasoning_gym/algorithmic/game_of_life_halting.py`. */
import { z } from 'zod'
import { defineScorer } from '../scorer.ts'

export const gameOfLifeHalting = defineScorer({
  metadata: z.unknown(),
  score: (answer, entry) => ((answer !== '') === (entry.answer !== '') ? 1 : 0),
})
