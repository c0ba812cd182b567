/** The flow of a run between generators and trainer: rates, waits, staleness, and which side holds up the other. */
import { z } from 'zod'
import { Count, NullableNumber } from './common.ts'

const Rate = z.number().describe('Number per second.')

const GroupMeans = z
  .strictObject({
    groups: Count.describe('Number of groups.'),
    difficulty: NullableNumber.describe('Mean difficulty of their items; null if none has one.'),
    length_tokens: NullableNumber.describe('Mean length of their rollouts in tokens; null without lengths.'),
    policy_lag: NullableNumber.describe('Mean policy lag; null without a group.'),
  })
  .meta({ id: 'GroupMeans', description: 'Number of groups and their means.' })
export type GroupMeans = z.infer<typeof GroupMeans>
const keptAndDropped = {
  kept: GroupMeans.describe('Groups that went into batches.'),
  dropped: GroupMeans.describe('Groups that were dropped as `stale`.'),
}

export const Flow = z
  .strictObject({
    batches: Count.describe('Number of batches that the figures cover, at most 64: the last ones.'),
    seconds: z.number().describe('Time that the figures cover.'),
    rates: z
      .strictObject({ items: Rate, groups: Rate, batches: Rate })
      .describe('Items handed out, groups accepted and batches composed.'),
    trainer_waiting: z
      .number()
      .describe('Share of the time in which a trainer waited for a batch that it had requested.'),
    trainer_wait_s: NullableNumber.describe('Mean wait for a batch, in seconds; null without a batch.'),
    generators_waiting: z
      .number()
      .describe(
        'Share of the time in which `max_groups_ahead` kept items back from generators, or the full buffer rejected their groups, whichever is larger.',
      ),
    in_flight: z
      .strictObject({
        leased: z.number().describe('Items that were handed out and whose groups have not arrived.'),
        queued: z.number().describe('Groups that wait to be scored.'),
        buffered: z.number().describe('Groups that wait for a batch.'),
      })
      .nullable()
      .describe(
        'Means at the moments when a trainer first requested the batch of a step; null without such a request.',
      ),
    batched_share: NullableNumber.describe(
      'Share of the completed groups that went into a batch; null without a completed group.',
    ),
    staleness: z
      .strictObject({
        measured: NullableNumber.describe(
          'Mean policy lag of the groups in batches; null if no group has a policy version.',
        ),
        predicted: NullableNumber.describe(
          'Mean policy lag by Little’s law: ((leased + queued) × `batched_share` + buffered) / groups per batch.',
        ),
      })
      .describe('Policy lag: how many versions the policy moved on from the generation of a group to its batch.'),
    untrained_tokens: NullableNumber.describe(
      'Share of the generated tokens that no batch has or will have, since the run began or was restored: those of groups without signal, stale or failed groups, and rollouts that are masked, skipped or unscored. null without lengths.',
    ),
    dropped_groups: z
      .strictObject({
        ...keptAndDropped,
        tasks: z.record(z.string(), z.strictObject(keptAndDropped)).describe('The same by task.'),
      })
      .nullable()
      .describe(
        'Groups with a policy version that `max_policy_lag` kept and dropped since the run began or was restored. Long completions arrive late, so dropping stale groups favors fast and easy items. null while none was dropped.',
      ),
    advice: z
      .strictObject({
        kind: z
          .enum([
            'no_data',
            'balanced',
            'set_max_groups_ahead',
            'add_generators',
            'add_workers',
            'more_signal',
            'less_stale',
            'raise_max_groups_ahead',
            'raise_buffer_max_groups',
            'speed_up_trainer',
          ])
          .describe('What would raise the rate of batches.'),
        text: z.string().describe('Advice in one sentence.'),
      })
      .describe('Which side waits, and what to change.'),
  })
  .meta({ id: 'Flow', description: 'Flow of a run between its generators and its trainer, over its last batches.' })
export type Flow = z.infer<typeof Flow>
