/** The evidence of a scored group for the frontier of its task, as stored until it is folded. */
import { z } from 'zod'

export const GroupEvidence = z.strictObject({
  /** The trainer's step when the group was completed. The script that completes the group adds it. */
  step: z.number(),
  time: z.string(),
  task: z.string(),
  /** Mean score of the counted rollouts, before any penalty, and their number. */
  score: z.number(),
  rollouts: z.number(),
  /** Difficulty of the group's item, and its guess floor under the run's scoring. */
  difficulty: z.number(),
  floor: z.number(),
})
export type GroupEvidence = z.infer<typeof GroupEvidence>
