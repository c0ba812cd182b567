/** A completed group as those see it who look through a run's last ones. */
import { z } from 'zod'
import { Destination, Group } from './rollout.ts'
import { FaultKind } from './verdict.ts'

export const GroupFilter = z.strictObject({
  task: z.string().max(64).optional(),
  fault: FaultKind.optional().describe('Groups in which a rollout has this fault'),
  destination: Destination.optional(),
  min_reward: z.coerce.number().optional().describe('Groups in which a rollout has at least this reward'),
})
export type GroupFilter = z.infer<typeof GroupFilter>

export const KeptGroup = z.strictObject({
  ...Group.shape,
  policy_version: z.int().nullable(),
  completions: z
    .array(
      z.strictObject({
        text: z.string().describe('What was read; the beginning of it unless `full`'),
        cut: z.boolean(),
        length_tokens: z.int().nullable(),
        finish_reason: z.string().nullable(),
      }),
    )
    .nullable()
    .describe('In the order of the verdicts; null when the texts are no longer kept'),
})
export type KeptGroup = z.infer<typeof KeptGroup>

const FaultSample = z.strictObject({
  group_id: z.string(),
  task: z.string(),
  rollout: z.int().min(0),
  text: z.string(),
  cut: z.boolean(),
})
export type FaultSample = z.infer<typeof FaultSample>

export const KeptGroups = z.strictObject({
  groups: z.array(KeptGroup),
  next_cursor: z.string().nullable().describe('For the page of older groups; null at the end'),
  faults: z
    .record(z.string(), z.strictObject({ count: z.int(), samples: z.array(FaultSample) }))
    .describe('Of each kind: how many the run has met so far, and some of its last groups’ completions'),
})
export type KeptGroups = z.infer<typeof KeptGroups>
