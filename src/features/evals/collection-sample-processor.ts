/** Processes one sample of a collection: claims the run's next item, calls the model, submits the group once it is complete. */
import { type ErrorCode, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Group } from '@reasoning-gym-server/contract/rollout'
import type { RunCondition } from '@reasoning-gym-server/contract/run-condition'
import type { Requeue } from '../../platform/queue/job-definition.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import type { RolloutSubmission } from '../rollouts/rollout-submission.ts'
import { countBufferOccupancy, type RunRepository } from '../runs/repository.ts'
import type { ResolvedRun } from '../runs/resolved-run.ts'
import type { Runs } from '../runs/runs.ts'
import type { ItemQueue } from '../runs/sequence/item-queue.ts'
import { CollectedGroup } from './collection-result.ts'
import { buildRollout, listCountedScores, listRolloutFailures } from './collection-rollout.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import type { EvalItemCache } from './eval-item-cache.ts'
import { generateOutput } from './generate-output.ts'
import type { JobOfKind } from './generation-job-record.ts'
import type { GenerationJobRepository } from './generation-job-repository.ts'
import type { ModelClients } from './model-clients.ts'
import { decodeSampleOutputWithin, encodeSampleOutput, type SampleOutput } from './sample-output.ts'
import type { SampleRepository } from './sample-repository.ts'

const MAX_ITEMS_PER_CLAIM = 8
const CLAIM_LEASE_MS = 30_000
const CLAIM_RETRY_MS = 150
const ITEMS_NOT_READY_RETRY_MS = 1_000
const BUFFER_FULL_RETRY_MS = 3_000
const RUN_RESTORED_RETRY_MS = 1_000
/** Error codes after which a sample continues: a restored checkpoint ends a claim of items and forgets groups. */
const RUN_RESTORED_CODES: readonly ErrorCode[] = ['run_changed', 'unknown_group']
const SCORING_TIMEOUT_MS = 20_000
/** Limit for the JSON of one group's outputs, which is the body limit of POST /rollouts. */
const MAX_GROUP_BYTES = 64 * 1024 * 1024

type Collection = JobOfKind<'collection'>

interface CollectionSampleProcessorDeps {
  generationJobs: GenerationJobRepository
  samples: SampleRepository
  items: EvalItemCache
  modelClients: ModelClients
  runs: Runs
  storedRuns: RunRepository
  itemQueue: ItemQueue
  rolloutSubmission: RolloutSubmission
  aggregator: EvalAggregator
}

export class CollectionSampleProcessor {
  readonly #deps: CollectionSampleProcessorDeps

  constructor(deps: CollectionSampleProcessorDeps) {
    this.#deps = deps
  }

  /**
   * Processes the sample. May run again for the same sample. Returns when to continue if it cannot be processed now.
   */
  async process(job: Collection, sample: number, slot: number, signal: AbortSignal): Promise<Requeue | undefined> {
    const { samples, runs } = this.#deps
    const group = Math.floor(sample / job.spec.group_size)
    const [submitted] = await samples.listVerdicts(CollectedGroup, job.id, group, group + 1)
    if (!submitted) {
      const run = await runs.getOrCreate(job.spec.run, requireIncarnation(job))
      const item = (await samples.getItem(job.id, group)) ?? (await this.#claimItem(job, run, group))
      if (typeof item !== 'string') return item
      await this.#ensureOutput(job, run, item, sample, signal)
      const outputs = await this.#getCompleteGroup(job, group)
      if (outputs) return this.#submitGroup(job, { group, item, outputs }, slot)
    }
    await samples.releaseSlot(job.id, slot)
    return undefined
  }

  /** Appends the run's next items to the job's list. Returns this group's item, or when to try again. */
  async #claimItem({ id, spec }: Collection, run: ResolvedRun, group: number): Promise<string | Requeue> {
    const { generationJobs, samples, itemQueue } = this.#deps
    if (spec.buffer && (await this.#isBufferFull(run))) return this.#waitForTrainer(id)
    if (!(await samples.acquireItemClaim(id, CLAIM_LEASE_MS))) return { delayMs: CLAIM_RETRY_MS }
    try {
      const claimed = await samples.countItems(id)
      if (claimed <= group) {
        // if this process dies before it appends them, the next process gets the same items
        const token = `${id}.${claimed}`
        const { items } = await itemQueue.next(run, Math.min(MAX_ITEMS_PER_CLAIM, spec.groups - claimed), token)
        if (items.length === 0) return await this.#waitForTrainer(id)
        const itemIds = items.map((item) => item.id)
        // the note expires
        if (await samples.appendItems(id, claimed, itemIds)) void itemQueue.forgetTaken(run, token).catch(() => {})
      }
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'items_not_ready')
        return { delayMs: ITEMS_NOT_READY_RETRY_MS }
      return requeueIfRestored(error)
    } finally {
      await samples.releaseItemClaim(id)
    }
    await generationJobs.setWaitingFor(id, null)
    return (await samples.getItem(id, group)) ?? { delayMs: CLAIM_RETRY_MS }
  }

  async #isBufferFull(run: ResolvedRun): Promise<boolean> {
    return countBufferOccupancy(await this.#deps.storedRuns.readBacklog(run)) >= run.settings.buffer_max_groups
  }

  /** Delays the model call while the buffer is full because the trainer is behind. */
  async #waitForTrainer(id: string): Promise<Requeue> {
    await this.#deps.generationJobs.setWaitingFor(id, 'trainer')
    return { delayMs: BUFFER_FULL_RETRY_MS }
  }

  /** Requests the sample's output unless it is already stored. */
  async #ensureOutput(
    job: Collection,
    run: ResolvedRun,
    itemId: string,
    sample: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { samples, items, modelClients } = this.#deps
    if (await samples.getOutput(job.id, sample)) return
    const { question } = await items.getOrCreate({ id: itemId, questionHash: undefined })
    const messages = buildPromptMessages(question, run.settings)
    const { model, group_size } = job.spec
    const output = await generateOutput(modelClients, { job, model, messages, seedOffset: sample % group_size, signal })
    const answeredBy = output.kind === 'response' ? 0 : undefined
    await samples.storeOutput(job.id, sample, encodeSampleOutput(output), answeredBy)
  }

  /** Returns undefined while an output is missing: the slot that stores the last one finds all of them. */
  async #getCompleteGroup({ id, spec }: Collection, group: number): Promise<SampleOutput[] | undefined> {
    const { samples } = this.#deps
    const indexes = sampleIndexesOfGroup(group, spec.group_size)
    if (!(await samples.hasAllOutputs(id, indexes))) return undefined
    const outputs: SampleOutput[] = []
    let bytesLeft = MAX_GROUP_BYTES
    for (const sample of indexes) {
      // read one at a time because all of them may not fit in memory
      const encoded = await samples.getOutput(id, sample)
      if (!encoded) return undefined // another slot submitted the group in the meantime
      const decoded = decodeSampleOutputWithin(encoded, bytesLeft)
      bytesLeft -= decoded?.bytes ?? 0
      const tooLarge = { kind: 'failed', detail: `The group's outputs are over ${MAX_GROUP_BYTES} bytes` } as const
      outputs.push(decoded?.output ?? tooLarge)
    }
    return outputs
  }

  async #submitGroup(
    job: Collection,
    { group, item, outputs }: { group: number; item: string; outputs: SampleOutput[] },
    slot: number,
  ): Promise<Requeue | undefined> {
    const { samples, rolloutSubmission, aggregator } = this.#deps
    const { run, buffer, group_size } = job.spec
    const group_id = `${job.id}.${group}`
    const rollouts = outputs.map(buildRollout)
    let submitted: Group | undefined
    try {
      if (outputs.some(({ kind }) => kind !== 'failed'))
        [submitted] = await rolloutSubmission.submitAndWait(
          run,
          [{ group_id, item_id: item, buffer, rollouts }],
          SCORING_TIMEOUT_MS,
          requireIncarnation(job),
        )
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'buffer_full') return this.#waitForTrainer(job.id)
      return requeueIfRestored(error)
    }
    const { status = 'failed', destination = null, mean_score = null } = submitted ?? {}
    const verdict: CollectedGroup = { group_id, status, destination, mean_score }
    const scores = listCountedScores(submitted)
    const result = await samples.record(job.id, group, {
      verdict,
      score: scores.reduce((sum, score) => sum + score, 0),
      slot,
      sampleCount: outputs.length,
      failures: listRolloutFailures(outputs, submitted),
      failedCount: outputs.length - scores.length,
    })
    if (result.kind !== 'recorded') return undefined
    await samples.deleteOutputs(job.id, sampleIndexesOfGroup(group, group_size))
    if (await aggregator.failIfAllFail(job.id, result)) return undefined
    if (result.done >= result.total) await aggregator.finalize(job.id, 'done')
    return undefined
  }
}

/** Returns the condition that keeps a collection from recreating its run after the run is deleted. */
function requireIncarnation({ spec: { incarnation } }: Collection): RunCondition | undefined {
  return incarnation === undefined ? undefined : [incarnation]
}

function requeueIfRestored(error: unknown): Requeue {
  if (error instanceof ServiceError && RUN_RESTORED_CODES.includes(error.code))
    return { delayMs: RUN_RESTORED_RETRY_MS }
  throw error
}

function sampleIndexesOfGroup(group: number, groupSize: number): number[] {
  return Array.from({ length: groupSize }, (_, k) => group * groupSize + k)
}
