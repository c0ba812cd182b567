/**
 * Redis keys of runs. All keys of one run share a slot. The keys that rollouts and batches add are in their own
 * `keys.ts`.
 */
import type { RedisKeys } from '../../platform/redis/keys.ts'

/**
 * Keys of one run in one epoch. A restored checkpoint starts a new epoch and leaves the groups of the old one behind.
 */
export interface RunKeys {
  run: string
  /** Hash: sums per task, `TASK:FIELD` to a number. */
  taskSums: string
  /** Hash: task to the state of its curriculum, as JSON. */
  curriculum: string
  /** Hash: task to the shares of correct rollouts in its last groups, comma-separated. */
  recentAccuracies: string
  /** Hash: task to the evidence of its last groups for the sampling (sequence/learnability.ts), comma-separated. */
  learnability: string
  /**
   * Hash: task to its number of outcomes, and `TASK:PLACE` to one of its last outcomes in a ring, packed
   * (group-outcome.ts).
   */
  recentOutcomes: string
  /** List: JSON points, newest first. */
  curriculumHistory: string
  /** Hash: task to the weights of its frontier, comma-separated. */
  frontierWeights: string
  /** List: JSON evidence of scored groups that is not yet folded into the frontiers, oldest first. */
  frontierEvidence: string
  /** Sorted set of the positions whose items are not issued, and a hash of their states (parts/sequence.lua). */
  openPositions: string
  positionStates: string
  itemBodies: string
  /** Sorted set of the positions that are leased, by the end of the lease, and a hash of what was issued for them. */
  leaseExpiries: string
  leasedItems: string
  /** List: items handed to one call with an `Idempotency-Key`, until its response is stored. It expires. */
  takenItems(token: string): string
  skippedPositions: string
  /** Sorted set: hash of a question, by the position whose item asks it. For runs that avoid repeated items. */
  questions: string
  /** Steps that have metrics, and the sums of one of them. */
  metricSteps: string
  metricSums(step: number | string): string
  /**
   * Blocks of groups that were completed when the run had no steps, by the number of their first group, and the sums of
   * one of them.
   */
  metricBlocks: string
  blockSums(firstGroup: number | string): string
  /** Hash: position to its state, for requested positions whose items are not issued yet. */
  requestedPositions: string
  /** Hash of the recipes of all issued items, packed by position (issued-items.ts), and a list of their task names. */
  issuedItems: string
  issuedTasks: string
  /** Hash: positions of the training steps that requested items, packed by step (step-positions.ts). */
  stepPositions: string
  /** Sorted set: groups that are not completed, by the time they were accepted. */
  pendingGroups: string
  /**
   * Sorted set: keys of the items whose samples adapters are collecting into groups, by the time of the latest sample.
   */
  openGroups: string
  /** Groups that wait for a trainer, in order of completion. */
  buffer: string
  /** Groups whose content is kept, in order of completion. */
  retainedGroups: string
  /** Hash: counts of what is queued, buffered and in open batches. */
  backlog: string
  /** Steps whose batches are not acknowledged. */
  openBatches: string
}

/**
 * The keys that a feature keeps for a run in one epoch, listed for their removal. Unlisted keys expire within minutes.
 */
export interface EpochKeys {
  /** Keys that each epoch has once. */
  keys: string[]
  /** Sorted sets, and the keys that belong to one of their members. */
  indexes: { index: string; listKeys(member: string): string[] }[]
  /** Removes keys that only the keys above name. It is called before those are removed, and can be repeated. */
  removeElsewhere?(signal?: AbortSignal): Promise<void>
}
export type ListEpochKeys = (name: string, epoch: number) => EpochKeys

export interface AllRunKeys {
  /** Set: names of all runs, and of deleted runs until their keys are removed. */
  runs: string
  /** Sorted set: UUIDs of deleted runs, by the time of deletion. */
  deletedRuns: string
  run(name: string): string
  /**
   * Sorted set: epochs whose keys are to be removed, by the earliest time of removal, in milliseconds of the Redis
   * clock.
   */
  discardedEpochs(name: string): string
  forRun(name: string, epoch: number): RunKeys
  listEpochKeys: ListEpochKeys
}

export function createRunKeys(keys: RedisKeys): AllRunKeys {
  const run = (name: string) => `${runSlot(keys, name)}:run`
  const forRun = (name: string, epoch: number): RunKeys => {
    const prefix = epochPrefix(keys, name, epoch)
    return {
      run: run(name),
      ...listSingleKeys(prefix),
      metricSums: (step) => `${prefix}:metric-sums:${step}`,
      blockSums: (firstGroup) => `${prefix}:block-sums:${firstGroup}`,
      takenItems: (token) => `${prefix}:noted-items:${token}`,
    }
  }
  return {
    runs: keys.key('runs'),
    deletedRuns: keys.key('deleted-runs'),
    run,
    discardedEpochs: (name) => `${runSlot(keys, name)}:discarded-epochs`,
    forRun,
    listEpochKeys(name, epoch) {
      const run = forRun(name, epoch)
      return {
        keys: Object.values(listSingleKeys(epochPrefix(keys, name, epoch))),
        indexes: [
          { index: run.metricSteps, listKeys: (step) => [run.metricSums(step)] },
          { index: run.metricBlocks, listKeys: (firstGroup) => [run.blockSums(firstGroup)] },
        ],
      }
    },
  }
}

/** Lists the keys that a run has once in each epoch. */
function listSingleKeys(prefix: string) {
  return {
    taskSums: `${prefix}:task-sums`,
    curriculum: `${prefix}:curriculum`,
    recentAccuracies: `${prefix}:recent-accuracies`,
    learnability: `${prefix}:learnability`,
    recentOutcomes: `${prefix}:recent-outcomes`,
    curriculumHistory: `${prefix}:curriculum-history`,
    frontierWeights: `${prefix}:frontier-weights`,
    frontierEvidence: `${prefix}:frontier-evidence`,
    openPositions: `${prefix}:open-positions`,
    positionStates: `${prefix}:position-states`,
    itemBodies: `${prefix}:item-bodies`,
    leaseExpiries: `${prefix}:lease-expiries`,
    leasedItems: `${prefix}:leased-items`,
    skippedPositions: `${prefix}:skipped-positions`,
    questions: `${prefix}:questions`,
    metricSteps: `${prefix}:metric-steps`,
    metricBlocks: `${prefix}:metric-blocks`,
    requestedPositions: `${prefix}:requested-positions`,
    issuedItems: `${prefix}:issued-items`,
    issuedTasks: `${prefix}:issued-tasks`,
    stepPositions: `${prefix}:step-positions`,
    pendingGroups: `${prefix}:pending-groups`,
    openGroups: `${prefix}:open-groups`,
    buffer: `${prefix}:buffer`,
    retainedGroups: `${prefix}:retained-groups`,
    backlog: `${prefix}:backlog`,
    openBatches: `${prefix}:open-batches`,
  }
}

/** Returns the prefix of all keys of a run. */
export function runSlot(keys: RedisKeys, name: string): string {
  return keys.slot(`run:${name}`)
}

/** Returns the prefix of the keys of a run in one epoch. */
export function epochPrefix(keys: RedisKeys, name: string, epoch: number): string {
  return `${runSlot(keys, name)}:${epoch}`
}
