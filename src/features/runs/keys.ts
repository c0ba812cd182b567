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
  /** List of JSON points, newest first. */
  curriculumHistory: string
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
  /** Steps that have metrics, and the sums of one of them. */
  metricSteps: string
  metricSums(step: number | ''): string
  /** Training steps that have items of their own, by the time of the last request. */
  steps: string
  stepItems(step: number | ''): string
  stepItemBodies(step: number): string
  /** Groups that are not completed, by the time they were accepted. */
  pendingGroups: string
  /** Groups that wait for a trainer, in order of completion. */
  buffer: string
  /** Groups whose content is kept, in order of completion. */
  recentGroups: string
  /** Hash: counts of what is queued, buffered and in open batches. */
  backlog: string
  /** Steps whose batches are not acknowledged. */
  openBatches: string
}

export interface AllRunKeys {
  /** Set of the names of all runs. */
  runs: string
  run(name: string): string
  /** Pattern that matches every key of a run. */
  runKeyPattern(name: string): string
  epochKeyPattern(name: string, epoch: number): string
  forRun(name: string, epoch: number): RunKeys
}

export function createRunKeys(keys: RedisKeys): AllRunKeys {
  const run = (name: string) => `${runSlot(keys, name)}:run`
  return {
    runs: keys.key('runs'),
    run,
    runKeyPattern: (name) => `${runSlot(keys, name)}:*`,
    epochKeyPattern: (name, epoch) => `${epochPrefix(keys, name, epoch)}:*`,
    forRun(name, epoch) {
      const prefix = epochPrefix(keys, name, epoch)
      return {
        run: run(name),
        taskSums: `${prefix}:task-sums`,
        curriculum: `${prefix}:curriculum`,
        recentAccuracies: `${prefix}:recent-accuracies`,
        curriculumHistory: `${prefix}:curriculum-history`,
        openPositions: `${prefix}:open-positions`,
        positionStates: `${prefix}:position-states`,
        itemBodies: `${prefix}:item-bodies`,
        leaseExpiries: `${prefix}:lease-expiries`,
        leasedItems: `${prefix}:leased-items`,
        takenItems: (token) => `${prefix}:taken-items:${token}`,
        skippedPositions: `${prefix}:skipped-positions`,
        metricSteps: `${prefix}:metric-steps`,
        metricSums: (step) => `${prefix}:metric-sums:${step}`,
        steps: `${prefix}:steps`,
        stepItems: (step) => `${prefix}:step-items:${step}`,
        stepItemBodies: (step) => `${prefix}:step-item-bodies:${step}`,
        pendingGroups: `${prefix}:pending-groups`,
        buffer: `${prefix}:buffer`,
        recentGroups: `${prefix}:recent-groups`,
        backlog: `${prefix}:backlog`,
        openBatches: `${prefix}:open-batches`,
      }
    },
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
