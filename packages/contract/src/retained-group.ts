/** A completed group as the inspection routes return it, with its completions. */
import { z } from 'zod'
import { Count, NullableNumber, NullableText } from './common.ts'
import { Destination, Group } from './rollout.ts'
import { FormatFault } from './verdict.ts'

export const GroupFilter = z.strictObject({
  task: z.string().max(64).optional().describe('Only groups of this task.'),
  step: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Only groups of this policy version, or with `last_step` those from this one on.'),
  last_step: z.coerce.number().int().min(0).optional().describe('With `step`: last of a range of policy versions.'),
  fault: FormatFault.optional().describe('Only groups in which a rollout has this format fault.'),
  destination: Destination.optional().describe('Only groups with this destination.'),
  min_reward: z.coerce.number().optional().describe('Only groups in which a rollout has at least this reward.'),
})
export type GroupFilter = z.infer<typeof GroupFilter>

export const RetainedGroup = z
  .strictObject({
    ...Group.shape,
    policy_version: z.int().nullable().describe('Policy version of the group; null if unknown.'),
    completions: z
      .array(
        z
          .strictObject({
            text: z.string().describe('Text of the completion. Without `full`, only its beginning.'),
            cut: z.boolean().describe('Whether `text` is shortened.'),
            length_tokens: z.int().nullable().describe('Length of the completion in tokens; null if unknown.'),
            finish_reason: NullableText.describe('Why the generation ended; null if unknown.'),
            reasoning: z
              .string()
              .optional()
              .describe('Reasoning that the messages carry separately. Only in full texts.'),
          })
          .meta({ id: 'RetainedCompletion', description: 'Text of one completion.' }),
      )
      .nullable()
      .describe('Completions in the order of the verdicts; null if the texts are no longer stored.'),
    common_answer: z
      .strictObject({
        text: z.string().describe('Answer, shortened if it is long.'),
        count: z.int().describe('Number of rollouts with exactly this answer.'),
      })
      .meta({ id: 'CommonAnswer', description: 'Most common answer of a group.' })
      .nullable()
      .describe('Most common answer; null without answers.'),
    matches: z
      .array(z.int())
      .optional()
      .describe('Positions of the rollouts whose completion or reasoning contains `q`, counted from 0.'),
    hardened_scores: z
      .array(NullableNumber)
      .optional()
      .describe(
        'Scores of the rollouts under hardened scoring, if one group or `hardened` is requested, the run uses upstream scoring, and that counts an answer as right; null where there is none.',
      ),
    expected: NullableText.optional().describe(
      'Expected answer, if one group is requested by the role admin; null if the library has none.',
    ),
  })
  .meta({ id: 'RetainedGroup', description: 'A completed group with the text of its completions.' })
export type RetainedGroup = z.infer<typeof RetainedGroup>

const FormatFaultExample = z
  .strictObject({
    group_id: z.string().describe('ID of the group.'),
    task: z.string().describe('Name of the task.'),
    rollout: Count.describe('Position of the rollout in the group, counted from 0.'),
    text: z.string().describe('Beginning of the completion.'),
    cut: z.boolean().describe('Whether `text` is shortened.'),
  })
  .meta({ id: 'FormatFaultExample', description: 'A completion with a format fault.' })
export type FormatFaultExample = z.infer<typeof FormatFaultExample>

export const GroupOrder = z.enum(['newest', 'worst', 'best']).meta({
  id: 'GroupOrder',
  description: '`newest`: the last group first; `worst`: the lowest mean reward first; `best`: the highest first.',
})
export type GroupOrder = z.infer<typeof GroupOrder>

export const RetainedGroupPage = z
  .strictObject({
    groups: z.array(RetainedGroup).describe('Groups that match the filter, in the order of `sort`.'),
    next_cursor: NullableText.describe('Value of `cursor` for the next page; null on the last page.'),
    searched: z.int().describe('Number of groups that this call examined. `next_cursor` continues.'),
    kept: z.int().describe('Number of groups that the server keeps.'),
    faults: z
      .record(
        z.string(),
        z
          .strictObject({
            count: z.int().describe('Number of rollouts of the run with this fault.'),
            samples: z.array(FormatFaultExample).describe('Recent completions with this fault.'),
          })
          .meta({ id: 'FormatFaultExamples', description: 'Count and examples of one format fault.' }),
      )
      .describe('Count and examples of each format fault.'),
  })
  .meta({ id: 'RetainedGroupPage', description: 'A page of the most recent groups of a run.' })
export type RetainedGroupPage = z.infer<typeof RetainedGroupPage>
