/** A batch: the groups of one training step. It is composed once, identical for every caller, and kept until acknowledged. */
import { z } from 'zod'
import { Count, NullableNumber, NumberByName } from './common.ts'
import { GroupId, GroupStatistics, Rollout, RunName } from './rollout.ts'
import { GroupVerdict } from './verdict.ts'

export const Step = Count.describe('Training step, counted by the trainer.')
const MAX_RANKS = 4096

const Rank = Count.describe('Rank of the caller, counted from 0. Requires `ranks`.')
const Ranks = z.int().min(1).max(MAX_RANKS).describe('Number of ranks that share the step. Requires `rank`.')

/** One rank of several. Requests give both fields or neither. */
export interface RankSlice {
  rank: number
  ranks: number
}

export const RankSliceFields = { rank: Rank.optional(), ranks: Ranks.optional() }
export const RankSliceQueryFields = {
  rank: z.coerce.number().pipe(Rank).optional().describe('Rank of the caller, counted from 0. Requires `ranks`.'),
  ranks: z.coerce.number().pipe(Ranks).optional().describe('Number of ranks that share the step. Requires `rank`.'),
}

/** Zod refinement: rank and ranks are given together, and the rank is below the number of ranks. */
export function validateRankSlice(
  { rank, ranks }: { rank?: number | undefined; ranks?: number | undefined },
  context: z.RefinementCtx,
): void {
  if ((rank === undefined) !== (ranks === undefined)) {
    context.addIssue({
      code: 'custom',
      path: [rank === undefined ? 'rank' : 'ranks'],
      message: 'missing: rank and ranks must be given together',
    })
  } else if (rank !== undefined && ranks !== undefined && rank >= ranks) {
    context.addIssue({ code: 'custom', path: ['rank'], message: `must be below ${ranks}: ranks are counted from 0` })
  }
}

export const Balance = z
  .enum(['tokens', 'rollouts'])
  .meta({ id: 'Balance', description: 'Quantity that is split evenly between the ranks: tokens or rollouts.' })
export type Balance = z.infer<typeof Balance>

export const BatchRequest = z
  .strictObject({
    step: Step.describe('Training step, counted by the trainer. The same step always gives the same batch.'),
    ...RankSliceFields,
    policy_version: Count.optional().describe(
      'Current policy version, which policy lag is measured against. Defaults to the step.',
    ),
    min_rollouts: z
      .int()
      .min(1)
      .optional()
      .describe('Minimum number of rollouts to compose the batch with, if fewer than `batch_size` are available.'),
    final: z
      .boolean()
      .default(false)
      .describe(
        'If true, composes the batch with the groups that are available, possibly none. Queued groups are awaited for the time given by `Prefer: wait=N`.',
      ),
    balance: Balance.default('tokens').describe(
      'How the batch is split between ranks. `tokens`: whole groups, with similar numbers of tokens per rank, unless there are more ranks than groups; `rollouts`: equal numbers of rollouts. Only the first call’s value is used.',
    ),
  })
  .superRefine(validateRankSlice)
  .meta({ id: 'BatchRequest', description: 'Request for the batch of a training step, or for one rank’s share of it.' })
export type BatchRequest = z.infer<typeof BatchRequest>

export const BatchGroup = z
  .strictObject({
    group_id: GroupId.describe('ID of the group.'),
    item_id: z.string().describe('ID of the item.'),
    task: z.string().describe('Name of the task.'),
    difficulty: NullableNumber.describe('Difficulty of the item; null for library defaults or a config.'),
    policy_version: z.int().nullable().describe('Smallest policy version of the rollouts; null if unknown.'),
    extra: z.unknown().optional().describe('Value that was posted with the group.'),
    ...GroupStatistics,
    indices: z.array(z.int()).describe('Positions of these rollouts in the group as it was posted, counted from 0.'),
    rollouts: z.array(Rollout).describe('Rollouts as they were posted.'),
    verdicts: z.array(GroupVerdict).describe('Verdicts, in the order of `rollouts`.'),
  })
  .meta({ id: 'BatchGroup', description: 'A scored group in a batch, or a rank’s share of it.' })
export type BatchGroup = z.infer<typeof BatchGroup>

export const BatchTotals = z
  .strictObject({
    groups: z.int().describe('Number of groups.'),
    rollouts: z.int().describe('Number of rollouts.'),
    trained_rollouts: z
      .int()
      .describe('Number of rollouts that carry training signal: scored, not skipped and not masked.'),
    trained_tokens: z.int().describe('Number of trained tokens of these rollouts.'),
  })
  .meta({ id: 'BatchTotals', description: 'Size of a whole batch, over all ranks.' })
export type BatchTotals = z.infer<typeof BatchTotals>

export const PolicyLag = z
  .strictObject({
    min: NullableNumber.describe('Smallest lag; null if no version is known.'),
    mean: NullableNumber.describe('Mean lag; null if no version is known.'),
    max: NullableNumber.describe('Largest lag; null if no version is known.'),
  })
  .meta({ id: 'PolicyLag', description: 'Policy lag of the groups of a batch, in policy versions.' })
export type PolicyLag = z.infer<typeof PolicyLag>

export const Batch = z
  .strictObject({
    run: RunName,
    step: Step,
    rollouts: z.int().describe('Number of rollouts in this response.'),
    totals: BatchTotals.describe('Size of the whole batch.'),
    lag: PolicyLag.describe(
      'Policy lag: the policy version that the batch was composed for, minus the version of each group.',
    ),
    metrics: NumberByName.describe(
      'Metrics of the whole batch. `reward/*`, `score/*` and `task/*/reward` cover the rollouts with a score. `fault/*`, `truncated/frac`, `masked/frac`, `skipped/frac` and `unscored/frac` are shares of all posted rollouts, including omitted ones; `length/*` covers those with a length. `signal/frac` is a share of groups, `lag/*` covers groups with a version.',
    ),
    groups: z.array(BatchGroup).describe('Groups of the batch, or of the rank’s share.'),
  })
  .meta({ id: 'Batch', description: 'The groups of one training step, whole or one rank’s share.' })
export type Batch = z.infer<typeof Batch>

/** A buffered group without its rollouts: enough to compose batches, split them between ranks and compute metrics. */
export interface GroupSummary {
  id: string
  task: string
  difficulty: number | null
  scored: number
  /** Oldest policy version. */
  policy_version: number | null
  signal: boolean
  /** In order. */
  rollouts: RolloutSummary[]
}

/** `[reward, score, length, trained tokens, marks]`; compact, because thousands of them are stored. */
export type RolloutSummary = [
  reward: number | null,
  score: number | null,
  length: number | null,
  trained: number | null,
  /** `s`kipped, `m`asked, `t`runcated, `r`ecovered at a later try, or the name of a format fault. */
  marks: string[],
]

/** A composed batch as it is stored. */
export interface StoredBatch {
  step: number
  policy_version: number
  balance: Balance
  unscored: 'omit' | 'mask'
  composed_at: number
  groups: GroupSummary[]
}
