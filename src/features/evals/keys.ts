/** Keys of evals and collections. */
import type { RedisKeys } from '../../platform/redis/keys.ts'

/** Keys of one eval or collection, in one slot. */
export interface GenerationJobKeys {
  job: string
  modelApiKey: string
  items: string
  completions: string
  verdicts: string
  claims: string
  retries: string
  events: string
  itemLock: string
}

export interface AllGenerationJobKeys {
  /** IDs of evals or collections by the time they were created. */
  generationJobs(kind: string): string
  /** IDs of evals and collections that have not ended, by the time they were created. */
  activeGenerationJobs: string
  /** Evals and collections that a caller has started. */
  callerGenerationJobs(caller: string): string
  forGenerationJob(id: string): GenerationJobKeys
}

export function createGenerationJobKeys(keys: RedisKeys): AllGenerationJobKeys {
  return {
    generationJobs: (kind) => keys.key(`generation-jobs:${kind}`),
    activeGenerationJobs: keys.key('generation-jobs:active'),
    callerGenerationJobs: (caller) => keys.key(`caller-generation-jobs:${caller}`),
    forGenerationJob(id) {
      const slot = keys.slot(`generation-job:${id}`)
      return {
        job: `${slot}:job`,
        modelApiKey: `${slot}:model-api-key`,
        items: `${slot}:items`,
        completions: `${slot}:completions`,
        verdicts: `${slot}:verdicts`,
        claims: `${slot}:claims`,
        retries: `${slot}:retries`,
        events: `${slot}:events`,
        itemLock: `${slot}:item-lock`,
      }
    },
  }
}
