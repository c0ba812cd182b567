/** A completed group as those see it who look through a run's last ones. */
import { z } from 'zod'
import { Destination, Group } from './rollout.ts'
import { FormatErrorCode } from './verdict.ts'

export const GroupFilter = z.strictObject({
  task: z.string().max(64).optional(),
  fault: FormatErrorCode.optional().describe('Groups in which a rollout has this fault'),
  destination: Destination.optional(),
  min_reward: z.coerce.number().optional().describe('Groups in which a rollout has at least this reward'),
})
export type GroupFilter = z.infer<typeof GroupFilter>

export const RetainedGroup = z
  .strictObject({
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
  .meta({ id: 'RetainedGroup' })
export type RetainedGroup = z.infer<typeof RetainedGroup>

const FormatErrorExample = z
  .strictObject({
    group_id: z.string(),
    task: z.string(),
    rollout: z.int().min(0),
    text: z.string(),
    cut: z.boolean(),
  })
  .meta({ id: 'FormatErrorExample' })
export type FormatErrorExample = z.infer<typeof FormatErrorExample>

export const RetainedGroupPage = z
  .strictObject({
    groups: z.array(RetainedGroup),
    next_cursor: z.string().nullable().describe('For the page of older groups; null at the end'),
    faults: z
      .record(z.string(), z.strictObject({ count: z.int(), samples: z.array(FormatErrorExample) }))
      .describe('Of each kind: how many the run has met so far, and some of its last groups’ completions'),
  })
  .meta({ id: 'RetainedGroupPage' })
export type RetainedGroupPage = z.infer<typeof RetainedGroupPage>
