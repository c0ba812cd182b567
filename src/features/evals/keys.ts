/** Redis keys of evals and collections. */
import type { RedisKeys } from '../../platform/redis/keys.ts'
import type { GenerationJobKind } from './generation-job-spec.ts'

/** Keys of one eval or collection, all in one slot. */
export interface GenerationJobKeys {
  job: string
  modelApiKey: string
  items: string
  outputs: string
  verdicts: string
  claims: string
  retries: string
  events: string
  itemClaimLock: string
}

export interface AllGenerationJobKeys {
  /** Sorted set: IDs of evals or collections by creation time. All lists of jobs share a slot. */
  generationJobs: (kind: GenerationJobKind) => string
  /** Sorted set: IDs of the evals or collections of one run. */
  generationJobsOfRun: (kind: GenerationJobKind, run: string) => string
  /** Hash: job ID to run, for jobs that belong to a run. */
  generationJobRuns: string
  /** Sorted set: IDs of the jobs that have not ended, by the time when they were created or last resumed. */
  activeGenerationJobs: string
  /** Sorted set: IDs of the jobs that a caller has started, by time. */
  callerGenerationJobs(callerId: string): string
  forGenerationJob(id: string): GenerationJobKeys
}

export function createGenerationJobKeys(keys: RedisKeys): AllGenerationJobKeys {
  const lists = keys.slot('generation-jobs')
  return {
    generationJobs: (kind) => `${lists}:${kind}`,
    generationJobsOfRun: (kind, run) => `${lists}:${kind}:run:${run}`,
    generationJobRuns: `${lists}:runs`,
    activeGenerationJobs: `${lists}:active`,
    callerGenerationJobs: (callerId) => keys.key(`caller-generation-jobs:${callerId}`),
    forGenerationJob(id) {
      const slot = keys.slot(`generation-job:${id}`)
      return {
        job: `${slot}:job`,
        modelApiKey: `${slot}:model-api-key`,
        items: `${slot}:items`,
        outputs: `${slot}:outputs`,
        verdicts: `${slot}:verdicts`,
        claims: `${slot}:claims`,
        retries: `${slot}:retries`,
        events: `${slot}:events`,
        itemClaimLock: `${slot}:item-claim-lock`,
      }
    },
  }
}
