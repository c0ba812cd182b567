/** Keys of runs. All keys of one run share a slot; what rollouts and batches add to it is in their own `keys.ts`. */
import type { RedisKeys } from '../../platform/redis/keys.ts'

/** Keys of one run in one epoch. A restored checkpoint starts a new epoch, which leaves the groups of the old one behind. */
export interface RunKeys {
  run: string
  /** Sums per task: `TASK:FIELD` to a number. */
  taskSums: string
  /** Hash: task to the state of its curriculum, JSON. */
  curriculum: string
  /** Hash: task to the shares of correct rollouts in its last groups, separated by commas. */
  recentAccuracies: string
  /** Hash: task to the evidence of its last groups for the sampling (sequence/learnability.ts), separated by commas. */
  learnability: string
  /** Hash: task to its number of outcomes, and `TASK:PLACE` in a ring to one of its last, packed (group-outcome.ts). */
  recentOutcomes: string
  /** List of JSON points, newest first. */
  curriculumHistory: string
  /** Hash: task to the weights of its frontier, separated by commas. */
  frontierWeights: string
  /** List of JSON: what scored groups tell the frontiers, oldest first, until it is folded. */
  frontierEvidence: string
  /** Sorted set of the positions of the sequence whose items are not issued, and a hash of their states (parts/sequence.lua). */
  openPositions: string
  positionStates: string
  itemBodies: string
  /** Positions whose items are issued and whose groups have not arrived: by the end of the lease; and what was issued. */
  leaseExpiries: string
  leasedItems: string
  /** List: what one call with an `Idempotency-Key` was handed, until its answer is kept. It expires. */
  takenItems(token: string): string
  skippedPositions: string
  /** Sorted set: hash of a question by the position whose item asks it, for runs that avoid repeated items. */
  questions: string
  /** Steps that have metrics, and the sums of one of them. */
  metricSteps: string
  metricSums(step: number | string): string
  /** Hash: position to its state, of those that a step or a call by number asked for and whose items are not issued yet. */
  requestedPositions: string
  /** Hash: recipes of all items that were issued, packed by position (issued-items.ts); and the names of their tasks. */
  issuedItems: string
  issuedTasks: string
  /** Hash: positions of the training steps that asked for items, packed by step (step-positions.ts). */
  stepPositions: string
  /** Groups that are not completed, by the time they were accepted. */
  pendingGroups: string
  /** Sorted set: keys of the items whose samples adapters are gathering into groups, by the time of the latest sample. */
  openGroups: string
  /** Groups that wait for a trainer, in order of completion. */
  buffer: string
  /** Groups whose content is kept, in order of completion. */
  recentGroups: string
  /** Hash: counts of what is queued, buffered and in open batches. */
  backlog: string
  /** Steps whose batches are not acknowledged. */
  openBatches: string
}

/** What a feature keeps of a run in one epoch, for its removal: what it does not list expires within minutes. */
export interface EpochKeys {
  /** Keys that each epoch has once. */
  keys: string[]
  /** Sorted sets, and the keys that one of their members stands for. */
  indexes: { index: string; listKeys(member: string): string[] }[]
}
export type ListEpochKeys = (name: string, epoch: number) => EpochKeys

export interface AllRunKeys {
  /** Set of the names of all runs, and of deleted ones until their keys are removed. */
  runs: string
  /** Sorted set: UUIDs of runs that were deleted, by time. */
  deletedRuns: string
  run(name: string): string
  /** Sorted set: epochs whose keys are to be removed, by the time from which that is allowed, ms of Redis' clock. */
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
        indexes: [{ index: run.metricSteps, listKeys: (step) => [run.metricSums(step)] }],
      }
    },
  }
}

/** The keys that a run has once in each epoch. */
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
    requestedPositions: `${prefix}:requested-positions`,
    issuedItems: `${prefix}:issued-items`,
    issuedTasks: `${prefix}:issued-tasks`,
    stepPositions: `${prefix}:step-positions`,
    pendingGroups: `${prefix}:pending-groups`,
    openGroups: `${prefix}:open-groups`,
    buffer: `${prefix}:buffer`,
    recentGroups: `${prefix}:recent-groups`,
    backlog: `${prefix}:backlog`,
    openBatches: `${prefix}:open-batches`,
  }
}

/** The start of all keys of a run. */
export function runSlot(keys: RedisKeys, name: string): string {
  return keys.slot(`run:${name}`)
}

/** The start of the keys of a run in one epoch. */
export function epochPrefix(keys: RedisKeys, name: string, epoch: number): string {
  return `${runSlot(keys, name)}:${epoch}`
}
