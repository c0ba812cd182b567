/** The groups of one training step: composed once, the same for whoever asks again, kept until acknowledged. */
import { z } from 'zod'
import { GroupId, Rollout, RunName } from './rollout.ts'
import { GroupVerdict } from './verdict.ts'

/** The trainer's own counter. */
export const Step = z.int().min(0)
const MAX_RANKS = 4096

const Rank = z.int().min(0).describe('Counted from 0')
const Ranks = z.int().min(1).max(MAX_RANKS)

/** One rank of several; both or neither. */
export interface RankSlice {
  rank: number
  ranks: number
}

export const RankSliceFields = { rank: Rank.optional(), ranks: Ranks.optional() }
export const RankSliceQueryFields = {
  rank: z.coerce.number().pipe(Rank).optional(),
  ranks: z.coerce.number().pipe(Ranks).optional(),
}

/** A rule for zod: rank and ranks come together, and the rank is one of them. */
export function validateRankSlice(
  { rank, ranks }: { rank?: number | undefined; ranks?: number | undefined },
  context: z.RefinementCtx,
): void {
  if ((rank === undefined) !== (ranks === undefined)) {
    context.addIssue({
      code: 'custom',
      path: [rank === undefined ? 'rank' : 'ranks'],
      message: 'rank and ranks come together',
    })
  } else if (rank !== undefined && ranks !== undefined && rank >= ranks) {
    context.addIssue({ code: 'custom', path: ['rank'], message: `ranks are counted from 0: below ${ranks}` })
  }
}

export const Balance = z.enum(['tokens', 'sequences']).meta({ id: 'Balance' })
export type Balance = z.infer<typeof Balance>

export const BatchRequest = z
  .strictObject({
    step: Step.describe('The trainer’s own counter; the same step gives the same batch'),
    ...RankSliceFields,
    policy_version: z.int().min(0).optional().describe('What lag is counted from; the step if not given'),
    min_sequences: z.int().min(1).optional().describe('Compose with fewer rollouts than batch_size, down to this many'),
    final: z
      .boolean()
      .default(false)
      .describe(
        'Compose with what there is, if need be an empty batch. Waits for queued groups for as long as `Prefer: wait=N` says',
      ),
    balance: Balance.default('tokens').describe(
      '`tokens`: whole groups, ranks alike in tokens, as long as there are no more ranks than groups; `sequences`: equal numbers of rollouts. The first call decides',
    ),
  })
  .superRefine(validateRankSlice)
  .meta({ id: 'BatchRequest' })
export type BatchRequest = z.infer<typeof BatchRequest>

const NullableNumber = z.number().nullable()

/** A group in a batch: what was sent, and what became of it. `rollouts` and `verdicts` are in the same order. */
export const BatchGroup = z
  .strictObject({
    group_id: GroupId,
    item_id: z.string(),
    task: z.string(),
    difficulty: z.number().nullable(),
    policy_version: z
      .int()
      .nullable()
      .describe('The smallest version of its rollouts; a rollout that names none has the one posted with the group'),
    extra: z.unknown().optional(),
    mean_score: NullableNumber,
    mean_reward: NullableNumber,
    std_reward: NullableNumber,
    percent_correct: NullableNumber,
    voters: z.int(),
    lengths: z.enum(['all', 'some', 'none']),
    length_penalty: z.boolean(),
    signal: z.boolean(),
    indices: z.array(z.int()).describe('Which of the posted rollouts these are'),
    rollouts: z.array(Rollout),
    verdicts: z.array(GroupVerdict),
  })
  .meta({ id: 'BatchGroup' })
export type BatchGroup = z.infer<typeof BatchGroup>

export const BatchTotals = z
  .strictObject({
    groups: z.int(),
    sequences: z.int(),
    trained_sequences: z.int().describe('Those that carry a training signal: scored, not skipped, not masked'),
    trained_tokens: z.int().describe('Trained tokens of those'),
  })
  .meta({ id: 'BatchTotals' })
export type BatchTotals = z.infer<typeof BatchTotals>

export const PolicyLag = z
  .strictObject({ min: NullableNumber, mean: NullableNumber, max: NullableNumber })
  .meta({ id: 'PolicyLag' })
export type PolicyLag = z.infer<typeof PolicyLag>

export const Batch = z
  .strictObject({
    run: RunName,
    step: Step,
    sequences: z.int().describe('Rollouts in this reply'),
    totals: BatchTotals.describe('Of the whole batch'),
    lag: PolicyLag.describe(
      'The `policy_version` that the batch was composed for minus that of each group; null where no version is known',
    ),
    metrics: z
      .record(z.string(), z.number())
      .describe(
        'Flat figures of the whole batch, ready for a logger. `reward/*`, `score/*` and `task/*/reward` are over the rollouts with a score; `fault/*`, `truncated/frac`, `masked/frac`, `skipped/frac` and `unscored/frac` are shares of all rollouts posted in its groups, also of those that `unscored_rollouts: omit` leaves out; `length/*` is over those of them with a length; `signal/frac` is a share of groups; `lag/*` is over groups with a version',
      ),
    groups: z.array(BatchGroup),
  })
  .meta({ id: 'Batch' })
export type Batch = z.infer<typeof Batch>

/** What a buffered group comes to, without its rollouts: enough to compose batches, share them out and sum them up. */
export interface GroupSummary {
  id: string
  task: string
  scored: number
  /** Oldest policy version. */
  policy_version: number | null
  signal: boolean
  /** In order. */
  rollouts: RolloutSummary[]
}

/** `[reward, score, length, trained tokens, marks]`; short, since thousands of them wait. */
export type RolloutSummary = [
  reward: number | null,
  score: number | null,
  length: number | null,
  trained: number | null,
  /** `s`kipped, `m`asked, `t`runcated, or the name of a format fault. */
  marks: string[],
]

/** A composed batch as it is kept. */
export interface StoredBatch {
  step: number
  policy_version: number
  balance: Balance
  unscored: 'omit' | 'mask'
  composed_at: number
  groups: GroupSummary[]
}
