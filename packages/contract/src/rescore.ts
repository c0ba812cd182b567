/** Rescores: what the kept groups of a run would have earned under other rules. */
import { z } from 'zod'
import { Count, NullableNumber, NullableText } from './common.ts'
import { GroupId, RunName } from './rollout.ts'
import { SettingsChange, TaskOrCategory } from './run-settings.ts'

/** The settings that decide what a group earns. */
export const RESCORE_SETTINGS = [
  'extraction',
  'stop',
  'opens_thinking',
  'scoring',
  'dual_format',
  'length_penalty',
  'max_token_length',
  'mask_too_long_completions',
  'min_trained_tokens',
  'advantage',
  'signal_on',
] as const

const RescoreSettings = SettingsChange.pick(
  Object.fromEntries(RESCORE_SETTINGS.map((name) => [name, true])) as Record<(typeof RESCORE_SETTINGS)[number], true>,
).meta({
  id: 'RescoreSettings',
  description: 'Scoring settings that replace those of the run. null stands for the default.',
})

export const RescoreInput = z
  .strictObject({
    settings: RescoreSettings.default({}).describe(
      'Scoring settings to try. Settings that you leave out are those of the run.',
    ),
    tasks: z.array(TaskOrCategory).min(1).max(512).optional().describe('Only groups of these tasks and categories.'),
    sample: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .describe(
        'Up to 1: the share of the kept groups to score, chosen by a hash of their IDs. Above 1: the number of most recent groups to look at. By default, all kept groups are scored.',
      ),
  })
  .meta({ id: 'RescoreInput', description: 'Rules to score the kept groups of a run with, and which groups.' })
export type RescoreInput = z.infer<typeof RescoreInput>

const RescoreCounts = {
  groups: Count.describe('Groups that were scored again.'),
  rollouts: Count.describe('Rollouts of these groups that are scored under both rules.'),
  rewards_changed: Count.describe('Rollouts whose reward differs.'),
  mean_change: NullableNumber.describe('Mean of the new reward minus the old one, over `rollouts`. null without any.'),
  groups_gaining_signal: Count.describe('Groups that carry signal only under the new rules.'),
  groups_losing_signal: Count.describe('Groups that carry signal only under the rules of the run.'),
  advantages_flipped: Count.describe('Rollouts whose advantage changes from positive to negative, or back.'),
}

const RescoredTask = z
  .strictObject({
    ...RescoreCounts,
    difficulty: z
      .strictObject({
        before: z.number().describe('Difficulty after these groups, with their rewards as they are.'),
        after: z.number().describe('Difficulty after these groups, with the new rewards.'),
      })
      .nullable()
      .describe(
        'Where the run’s `frontier` would stand if it had seen only these groups. null in other modes, and for tasks without a ladder.',
      ),
  })
  .meta({ id: 'RescoredTask', description: 'The groups of one task, scored again.' })

const RescoredReward = z
  .strictObject({
    reward: z.number().describe('Reward, after penalties.'),
    score: z.number().describe('Score, before penalties.'),
    advantage: NullableNumber.describe('Advantage in its group.'),
    answer: NullableText.describe('The answer that was read, shortened to 300 characters; null if there is none.'),
    fault: NullableText.describe('Format fault, or null.'),
  })
  .meta({ id: 'RescoredReward', description: 'What one rollout earns under one set of rules.' })

const RescoreExample = z
  .strictObject({
    group_id: GroupId.describe('ID of the group.'),
    task: z.string().describe('Name of the task.'),
    rollout: Count.describe('Index of the rollout in its group.'),
    before: RescoredReward.describe('Under the rules of the run.'),
    after: RescoredReward.describe('Under the new rules.'),
  })
  .meta({ id: 'RescoreExample', description: 'A rollout whose reward differs.' })
export type RescoreExample = z.infer<typeof RescoreExample>

export const RescoreResult = z
  .strictObject({
    ...RescoreCounts,
    left_out: Count.describe(
      'Groups that cannot be scored again: their texts are no longer kept, they had failed, or their item or an answer could not be scored this time.',
    ),
    tasks: z.record(z.string(), RescoredTask).describe('The same by task.'),
    examples: z.array(RescoreExample).describe('Rollouts whose reward differs, at most 3 of a task.'),
  })
  .meta({ id: 'RescoreResult', description: 'How rewards, signal and advantages differ under other rules.' })
export type RescoreResult = z.infer<typeof RescoreResult>

export const Rescore = z
  .strictObject({
    id: z.string().describe('ID of the rescore.'),
    run: RunName.describe('Name of the run.'),
    status: z.enum(['queued', 'running', 'done', 'failed']).describe('Progress of the job.'),
    created_at: z.string().describe('Time of the request, ISO 8601.'),
    settings: RescoreSettings,
    tasks: z.array(z.string()).nullable().describe('The tasks that were asked for; null for all.'),
    sample: NullableNumber.describe('The sample that was asked for; null for all kept groups.'),
    progress: z
      .strictObject({
        total: Count.describe('Groups to look at; 0 until the job starts.'),
        done: Count.describe('Groups looked at so far.'),
      })
      .meta({ id: 'RescoreProgress', description: 'Progress of a rescore.' }),
    detail: NullableText.describe('Why the rescore failed; null otherwise.'),
    result: RescoreResult.nullable().describe('The result; null until the status is `done`.'),
  })
  .meta({ id: 'Rescore', description: 'A rescore of the kept groups of a run. It changes nothing in the run.' })
export type Rescore = z.infer<typeof Rescore>

export const RescoreList = z
  .strictObject({ rescores: z.array(Rescore).describe('The last 20 rescores, newest first.') })
  .meta({ id: 'RescoreList', description: 'Rescores of a run.' })
