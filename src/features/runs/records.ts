/**
 * Redis keys and stored fields of runs, which share a slot. Those of groups, batches and open groups are here if the run counts
 * them for its backlog; their features declare the others.
 */

import { FrontierEstimate } from '@reasoning-gym-server/contract/run'
import { ForkOrigin } from '@reasoning-gym-server/contract/run-control'
import { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { z } from 'zod'
import { GROUP_SUMS } from '../../grading/group-statistics.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'

/**
 * The keys that make the state of a run after a step, by the end of their names. A rewind and a fork at a step restore these, and
 * `run` without its kept fields. What a position or a group of its own has is undone with it (scripts/rewind-run.lua).
 */
const STATE_HASHES = {
  /** Task to its packed sums (sums.ts). */
  taskSums: 'task-sums',
  /** Task to the state of its curriculum, as JSON. */
  curriculum: 'curriculum',
  /** Task to the weights of its frontier (curriculum/posterior.ts). */
  frontierWeights: 'frontier-weights',
  /** Task to the shares of correct rollouts in its last groups, comma-separated. */
  recentAccuracies: 'recent-accuracies',
  /** Task to the evidence of its last groups for the sampling (sequence/learnability.ts), comma-separated. */
  learnability: 'learnability',
  /** Task to its number of outcomes, and `TASK:PLACE` to one of its last outcomes in a ring, packed (diagnosis/group-outcome.ts). */
  recentOutcomes: 'recent-outcomes',
} as const
const STATE_LISTS = {
  /** JSON evidence of scored groups that is not yet folded into the frontiers, oldest first. */
  frontierEvidence: 'frontier-evidence',
  skippedPositions: 'skipped-positions',
} as const
const STATE_KEYS = { run: 'run', ...STATE_HASHES, ...STATE_LISTS }

/** The keys that a run has once in each epoch, by the end of their names. */
const EPOCH_KEYS = {
  ...STATE_HASHES,
  ...STATE_LISTS,
  /** Hashes: the packed sums of each step, and of each block of groups by the number of its first group. */
  stepSums: 'step-sums',
  blockSums: 'block-sums',
  /** List: JSON points, newest first. */
  curriculumHistory: 'curriculum-history',
  /** Sorted set of the positions whose items are not issued, and a hash of their states (sequence/positions.ts). */
  openPositions: 'open-positions',
  positionStates: 'position-states',
  itemBodies: 'item-bodies',
  /** Sorted set of the positions that are leased, by the end of the lease, and a hash of what was issued for them. */
  leaseExpiries: 'lease-expiries',
  leasedItems: 'leased-items',
  /** Sorted set: hash of a question, by the position whose item asks it. For runs that avoid repeated items. */
  questions: 'questions',
  /** Sorted sets: the steps and the blocks that have sums. Blocks are of groups that were completed when the run had no steps. */
  metricSteps: 'metric-steps',
  metricBlocks: 'metric-blocks',
  /** Hash: position to its state, for requested positions whose items are not issued yet. */
  requestedPositions: 'requested-positions',
  /**
   * Hash of the recipes of all issued items, packed by position (sequence/issued-items.ts), and a list of the variants
   * of their tasks.
   */
  issuedItems: 'issued-recipes',
  issuedTasks: 'issued-tasks',
  /** Hash: positions of the training steps that requested items, packed by step (sequence/requested.ts). */
  stepPositions: 'step-positions',
  /** List: the last mixes of tasks as JSON (RunMix), oldest first. */
  mixes: 'mixes',
  /** List: the last marks of the run as JSON (RunMark), oldest first. */
  marks: 'marks',
  /** List: the run's counters when its last batches were composed (flow.ts), as JSON, newest first. */
  flowSamples: 'flow-samples',
  /** Hash: `TASK:FIELD` to a sum over the groups that `max_policy_lag` kept or dropped (flow.ts). */
  lagSums: 'lag-sums',
  /** Sorted set: groups that are not completed, by the time they were accepted. */
  pendingGroups: 'pending-groups',
  /**
   * Sorted set: keys of the items whose samples adapters are collecting into groups, by the time of the latest sample.
   */
  openGroups: 'open-groups',
  /** Hash: `groupSizesRecord`. */
  groupSizes: 'group-sizes',
  /** Groups that wait for a trainer, in order of completion. */
  buffer: 'buffer',
  /** Groups whose content is kept, in order of completion. */
  retainedGroups: 'retained-groups',
  /** Hash: counts of what is queued, buffered and in open batches. */
  backlog: 'backlog',
  /** Steps whose batches are not acknowledged. */
  openBatches: 'open-batches',
  /** Sorted set: numbers of the recorded states, by step (scripts/parts/step-states.lua). */
  stepStates: 'step-states',
  /** Sorted set: names of the runs that were forked from this one, by time. */
  forks: 'forks',
} as const

/**
 * The keys that a feature keeps for a run in one epoch, listed for their removal. Unlisted keys expire within minutes.
 */
export interface EpochKeys {
  keys: string[]
  /** Sorted sets, and the keys that belong to one of their members. */
  indexes: { index: string; listKeys(member: string): string[] }[]
  /** Those of them that exist only while a sweep has something to do. */
  swept?: string[]
  /** What a rewind drops: sorted sets, with the keys of their members if those have a prefix, and counts that become 0. */
  rewound?: { dropped: { index: string; prefix?: string }[]; zeroed: { key: string; field: string }[] }
}
export type ListEpochKeys = (name: string, epoch: number) => EpochKeys

export type AllRunKeys = ReturnType<typeof createRunKeys>
export type RunKeys = ReturnType<AllRunKeys['forRun']>

export function createRunKeys(keys: RedisKeys) {
  const run = (name: string) => `${runSlot(keys, name)}:run`
  /**
   * Keys of one run in one epoch. A restored checkpoint starts a new epoch and leaves the groups of the old one behind.
   */
  const forRun = (name: string, epoch: number) => {
    const prefix = epochPrefix(keys, name, epoch)
    return {
      run: run(name),
      ...formatEpochKeys(prefix),
      /** List: items taken by one call with an `Idempotency-Key`, until its response is stored. It expires. */
      takenItems: (token: string) => `${prefix}:taken-items:${token}`,
      /** What belongs to one recorded state (scripts/parts/step-states.lua). */
      stepState: (state: number | string) => `${prefix}:step-state:${state}`,
      handedOut: (state: number | string) => `${prefix}:handed-out:${state}`,
    }
  }
  return {
    /** Set: names of all runs, and of deleted runs until their keys are removed. */
    runs: keys.key('runs'),
    /** Sorted sets: names of runs by the time when they were last used, in milliseconds; all, and those to sweep (run-index.ts). */
    runsByActivity: keys.key('runs-by-activity'),
    runsToSweep: keys.key('runs-to-sweep'),
    /** Sorted set: names of runs by the time when they were archived, in milliseconds. */
    archivedRuns: keys.key('archived-runs'),
    /** Sorted set: incarnations of deleted runs, by the time of deletion. */
    deletedRuns: keys.key('deleted-runs'),
    run,
    /**
     * Sorted set: epochs whose keys are to be removed, by the earliest time of removal, in milliseconds of the Redis
     * clock.
     */
    discardedEpochs: (name: string) => `${runSlot(keys, name)}:discarded-epochs`,
    forRun,
    listEpochKeys: (name: string, epoch: number): EpochKeys => {
      const runKeys = forRun(name, epoch)
      const prefix = epochPrefix(keys, name, epoch)
      return {
        keys: [
          ...Object.values(formatEpochKeys(prefix)),
          ...Object.values(STATE_KEYS).map((end) => `${prefix}:at-step:${end}`),
        ],
        indexes: [
          {
            index: runKeys.stepStates,
            listKeys: (state) => [runKeys.stepState(Number(state)), runKeys.handedOut(Number(state))],
          },
        ],
        swept: [runKeys.pendingGroups, runKeys.openGroups],
      }
    },
  }
}

function formatEpochKeys(prefix: string): Record<keyof typeof EPOCH_KEYS, string> {
  const entries = Object.entries(EPOCH_KEYS).map(([name, end]) => [name, `${prefix}:${end}`])
  return Object.fromEntries(entries) as Record<keyof typeof EPOCH_KEYS, string> // has the entries of EPOCH_KEYS
}

/**
 * Returns the lowest epoch for a new run. It is the current time, so that the run shares no keys with an earlier run of
 * the same name.
 */
export function createEpoch(): number {
  return redisNow()
}

/** Returns the prefix of all keys of a run. */
export function runSlot(keys: RedisKeys, name: string): string {
  return keys.slot(`run:${name}`)
}

/** Returns the prefix of the keys of a run in one epoch. */
export function epochPrefix(keys: RedisKeys, name: string, epoch: number): string {
  return `${runSlot(keys, name)}:${epoch}`
}

/**
 * What flow.ts computes with. Checkpoints leave it out: times and what is in flight belong to one epoch. A time of 0 means
 * that no one waits.
 */
const FLOW_FIELDS = {
  /** Since when `max_groups_ahead` has kept items back, and for how long it did before. */
  items_held_since: { kind: 'timestamp' },
  items_held_ms: { kind: 'counter' },
  /** The same of groups that the full buffer keeps out. */
  posts_held_since: { kind: 'timestamp' },
  posts_held_ms: { kind: 'counter' },
  /** Last step whose batch was requested, since when its trainer has waited for it, and for how long trainers waited before. */
  requested_step: { kind: 'cursor' },
  trainer_waiting_since: { kind: 'timestamp' },
  trainer_waited_ms: { kind: 'counter' },
  /** Number of requested steps, and the sums over them of the groups that were leased, queued and buffered. */
  requested_steps: { kind: 'counter' },
  leased_at_requests: { kind: 'counter' },
  queued_at_requests: { kind: 'counter' },
  buffered_at_requests: { kind: 'counter' },
  /** Groups in batches; of those with a policy version, the number and the sum of their lags. */
  batched_groups: { kind: 'counter' },
  lagged_groups: { kind: 'counter' },
  lag_sum: { kind: 'counter' },
  /** Tokens of completed groups, and those of them that no batch will have. */
  generated_tokens: { kind: 'counter' },
  untrained_tokens: { kind: 'counter' },
} as const

const COUNTER = { kind: 'counter', metric: true, checkpoint: true } as const
const TIMESTAMP = { kind: 'timestamp', checkpoint: true } as const

export const runRecord = new RecordDeclaration({
  incarnation: { kind: 'text', kept: true },
  epoch: { kind: 'cursor', kept: true },
  revision: { kind: 'cursor', kept: true },
  created_at: { kind: 'timestamp', kept: true },
  /**
   * Time of the last PUT of settings or restored checkpoint. If absent, the first call that used the run created it.
   */
  configured_at: { kind: 'timestamp', kept: true },
  /** When a process noticed that Redis had lost the run and that it was created again. */
  recreated_at: { kind: 'timestamp', kept: true },
  /** Absent: active. A run that accepted a group after `lifecycle_at` is active as well. */
  lifecycle: { kind: 'text', schema: z.enum(['finished', 'archived']), kept: true },
  lifecycle_at: { kind: 'timestamp', kept: true },
  settings: { kind: 'json', schema: SettingsChange, kept: true },
  /** First position of the sequence that was never opened. */
  position: { kind: 'cursor', metric: true },
  /** First position after all that were requested by number. */
  requested_end: { kind: 'cursor' },
  /** Number of changes of the mix of tasks since the sequence began. */
  mixes: { kind: 'cursor', checkpoint: true },
  prefetch_target: { ...COUNTER, kind: 'cursor' },
  /**
   * Number of pieces of evidence that have left the list `frontierEvidence`: folded, or dropped because the list was
   * full.
   */
  folded_evidence: { kind: 'cursor', kept: true },
  /** Highest step that a batch was composed for. */
  step: { kind: 'cursor', checkpoint: true },
  items: COUNTER,
  skipped_positions: COUNTER,
  /** Skipped positions whose seeds all give a question of a frozen suite. */
  skipped_eval_items: COUNTER,
  /** Seeds that a position passed over because the question belongs to a frozen suite or was asked before. */
  passed_over_eval_items: COUNTER,
  passed_over_repeats: COUNTER,
  passed_over_unanswerable: COUNTER,
  /** Items whose question was asked before, because no seed of their position gives another one. */
  repeated_items: COUNTER,
  groups: COUNTER,
  rollouts: COUNTER,
  /** Number of rollouts with a score, and the sum of their rewards. */
  scored_rollouts: { kind: 'counter', checkpoint: true },
  reward: { kind: 'sum', checkpoint: true },
  completed: COUNTER,
  scored_groups: COUNTER,
  failed_groups: COUNTER,
  unscored: COUNTER,
  no_signal_easy: COUNTER,
  no_signal_hard: COUNTER,
  masked_groups: COUNTER,
  lone_voter_groups: COUNTER,
  skipped_groups: COUNTER,
  stale_groups: COUNTER,
  batches: COUNTER,
  groups_since_scored: COUNTER,
  groups_since_signal: COUNTER,
  format_faults: { ...GROUP_SUMS.format_faults, metric: true, checkpoint: true },
  last_accepted_at: TIMESTAMP,
  last_scored_at: TIMESTAMP,
  last_signal_at: TIMESTAMP,
  last_batch_at: TIMESTAMP,
  last_batch_request_at: TIMESTAMP,
  ...FLOW_FIELDS,
  /** Groups that the last request for a batch dropped because they were too old. */
  last_request_stale_groups: { kind: 'counter', checkpoint: true },
  /** Number of points that were added to the curriculum's history. */
  curriculum_points: { kind: 'cursor' },
  /** What names the steps of the run, and the latest step (scripts/parts/step-states.lua). */
  steps_named_by: { kind: 'text', schema: z.enum(['ends', 'items', 'groups']), checkpoint: true },
  named_step: { kind: 'cursor', checkpoint: true },
  /** Number of the newest recorded state, and of all that were ever recorded. */
  state: { kind: 'cursor', kept: true },
  states: { kind: 'cursor', kept: true },
  /** Number of rewinds, when the last one was, and the recorded state and the resume that it was for. */
  rewinds: { kind: 'cursor', kept: true },
  rewound_at: { kind: 'timestamp', kept: true },
  rewound_to: { kind: 'cursor', kept: true },
  resume_id: { kind: 'text', kept: true },
  forked_from: { kind: 'json', schema: ForkOrigin, kept: true },
})
export type RunValues = ReturnType<typeof runRecord.parse>

/** Constants of the scripts that include scripts/parts/step-states.lua. */
export const STATE_CONSTANTS = {
  keys: Object.values(STATE_KEYS).join(','),
  lists: Object.values(STATE_LISTS).join(','),
  kept_fields: runRecord.kept.join(','),
  /** Limit of recorded states of a run. */
  max_states: 1024,
  /** Number of leases, or of requested positions, above which a state lists none of them. */
  max_entries: 2000,
}

/** Counts of what is queued, buffered and in open batches. */
export const backlogRecord = new RecordDeclaration({
  queued_groups: { kind: 'counter' },
  queued_rollouts: { kind: 'counter' },
  buffered_rollouts: { kind: 'counter' },
  buffered_scored_rollouts: { kind: 'counter' },
  open_batch_groups: { kind: 'counter' },
  /** Payload size of all of these. */
  bytes: { kind: 'counter' },
  /** Size of the texts that are kept after their groups were delivered or dropped. */
  retained_bytes: { kind: 'counter' },
  /** Every step below this one was acknowledged or never composed. */
  acknowledged_below: { kind: 'cursor' },
})

/** The samples of trainers that send them one by one, in the order in which they come. */
export const groupSizesRecord = new RecordDeclaration({
  /** Number of samples so far. */
  samples: { kind: 'counter' },
  /** Largest number of groups that were open at once. */
  peak: { kind: 'counter' },
  /** About the median of the gaps in groups, in samples of the run. */
  usual_gap: { kind: 'sum' },
  /** Number of samples that the trainer was found to send for each item while `group_size` was `sent_size_for`. */
  sent_size: { kind: 'counter' },
  sent_size_for: { kind: 'counter' },
  /** Number of rewards that stood in for the verdicts of unscored samples. */
  substituted: { kind: 'counter' },
  /** When the latest sample was recorded. */
  latest: { kind: 'timestamp' },
  /** How the last 50 groups were closed while `group_size` was `recent_for`, separated by spaces: `full`, `wide`, or how many samples an incomplete one had. */
  recent: { kind: 'text' },
  recent_for: { kind: 'counter' },
})
export type GroupSizes = ReturnType<typeof groupSizesRecord.parse>

const StoredNumber = z.coerce.number()

/** Limit of mixes of tasks that a run remembers. Older ones are dropped. */
export const MAX_MIXES = 1000

/** Limit of marks that a run keeps. Older ones are dropped. */
export const MAX_MARKS = 500

/** Limit of points in a run's curriculum history. Older points are dropped. */
export const MAX_HISTORY_POINTS = 100_000

/** The curriculum of a task. Lua writes its numbers as text with 17 digits, and an empty list as an object. */
export const CurriculumState = z.object({
  level: StoredNumber,
  accuracy: StoredNumber.optional(),
  scores: z.union([z.array(StoredNumber), z.strictObject({}).transform((): number[] => [])]),
  /** Trainer's step of the last group under `frontier`, and the estimate after it. */
  step: z.number().optional(),
  frontier: FrontierEstimate.optional(),
})
export type CurriculumState = z.infer<typeof CurriculumState>

/** Formats the state as the scripts do. */
export function formatCurriculumState({ level, accuracy, scores, step, frontier }: CurriculumState): string {
  return JSON.stringify({
    level: String(level),
    accuracy: accuracy?.toString(),
    scores: scores.map(String),
    step,
    frontier,
  })
}
