/** What a scored group tells the frontier of its task, as it waits to be folded. */
import { z } from 'zod'

export const GroupEvidence = z.strictObject({
  /** The trainer's step when the group was completed; the script that completes it adds it. */
  step: z.number(),
  time: z.string(),
  task: z.string(),
  /** Mean score of the counted rollouts, before any penalty, and how many they are. */
  score: z.number(),
  rollouts: z.number(),
  /** Of its item, and what guessing earned there under the run's scoring. */
  difficulty: z.number(),
  floor: z.number(),
})
export type GroupEvidence = z.infer<typeof GroupEvidence>
