/**
 * Processes one sample of a collection: claims the run's next item, calls the model, and submits the group once all its
 * outputs are there.
 */
import { type ErrorCode, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Group, Rollout } from '@reasoning-gym-server/contract/rollout'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { Requeue } from '../../../platform/queue/job-definition.ts'
import { buildPromptMessages } from '../../items/prompt.ts'
import type { RolloutSubmission } from '../../rollouts/rollout-submission.ts'
import { countBufferOccupancy, type RunRepository } from '../../runs/repository.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ItemQueue } from '../../runs/sequence/item-queue.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { JobAggregator } from '../aggregator.ts'
import { type AnswerMemory, MAX_ANSWER_BYTES, type MemoryHold } from '../models/answer-memory.ts'
import type { ModelClients } from '../models/clients.ts'
import type { ModelResponse } from '../models/response.ts'
import type { JobOfKind } from '../records.ts'
import type { GenerationJobRepository } from '../repository.ts'
import type { FailureCause } from '../samples/failure-reasons.ts'
import { buildAssistantMessage, decodeSampleOutput, encodeSampleOutput, type SampleOutput } from '../samples/output.ts'
import type { SampleRepository } from '../samples/repository.ts'
import type { Suites } from '../suites.ts'
import { CollectedGroup } from './collection.ts'

const MAX_ITEMS_PER_CLAIM = 8
const CLAIM_LEASE_MS = 30_000
/** Polls: another process of this collection holds the claim for a moment only, and its end is not announced. */
const CLAIM_RETRY_MS = 150
const ITEMS_NOT_READY_RETRY_MS = 1_000
/** Polls: the slot goes back to the queue meanwhile, and nothing is lost while the trainer is behind. */
const BUFFER_FULL_RETRY_MS = 3_000
const RUN_RESTORED_RETRY_MS = 1_000
/** Error codes after which a sample continues: a restored checkpoint ends a claim of items and forgets groups. */
const RUN_RESTORED_CODES: readonly ErrorCode[] = ['run_changed', 'unknown_group']
const SCORING_TIMEOUT_MS = 20_000
/** The body limit of POST /rollouts. */
const MAX_GROUP_BYTES = 64 * 1024 * 1024
/** JSON of a group above which the worker submits few groups at once. */
const SMALL_GROUP_BYTES = 4 * 1024 * 1024

type Collection = JobOfKind<'collection'>

interface CollectionSampleProcessorDeps {
  generationJobs: GenerationJobRepository
  samples: SampleRepository
  suites: Suites
  modelClients: ModelClients
  answerMemory: AnswerMemory
  runs: Runs
  storedRuns: RunRepository
  itemQueue: ItemQueue
  rolloutSubmission: RolloutSubmission
  aggregator: JobAggregator
  /** Limit for the JSON of one group's outputs. */
  maxGroupBytes?: number
}

export class CollectionSampleProcessor {
  readonly #deps: CollectionSampleProcessorDeps

  constructor(deps: CollectionSampleProcessorDeps) {
    this.#deps = deps
  }

  /** Processes the sample. May run again for the same sample. Returns when to continue if it cannot be processed now. */
  async process(job: Collection, sample: number, slot: number, signal: AbortSignal): Promise<Requeue | undefined> {
    const { samples, runs, answerMemory } = this.#deps
    const group = Math.floor(sample / job.spec.group_size)
    const [submitted] = await samples.listVerdicts(CollectedGroup, job.id, group, group + 1)
    if (!submitted) {
      const run = await runs.require(job.spec.run, requireIncarnation(job))
      const item = (await samples.getItem(job.id, group)) ?? (await this.#claimItem(job, run, group))
      if (typeof item !== 'string') return item
      await answerMemory.hold(MAX_ANSWER_BYTES, (hold) => this.#ensureOutput(job, run, item, sample, { signal, hold }))
      const submitIfComplete = async (hold: MemoryHold): Promise<{ requeue: Requeue | undefined } | undefined> => {
        const outputs = await this.#getCompleteGroup(job, group, hold)
        return outputs && { requeue: await this.#submitGroup(job, { group, item, outputs }, { slot, sample }) }
      }
      const complete = await answerMemory.hold(MAX_GROUP_BYTES, submitIfComplete)
      if (complete) return complete.requeue
    }
    await samples.releaseSlot(job.id, slot, sample)
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
        await samples.appendItems(id, claimed, itemIds) // the note of what was taken expires: a process that stalled may ask for it
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

  async #ensureOutput(
    job: Collection,
    run: ResolvedRun,
    itemId: string,
    sample: number,
    context: { signal: AbortSignal; hold: MemoryHold },
  ): Promise<void> {
    const { samples, suites, modelClients } = this.#deps
    if (await samples.getOutput(job.id, sample)) return
    const item = await suites.getOrCreateItem({ id: itemId, questionHash: undefined })
    const messages = buildPromptMessages(item, run.settings)
    const { model, group_size } = job.spec
    const output = await modelClients.complete({ job, model, messages, seedOffset: sample % group_size, ...context })
    await samples.storeOutput(job.id, sample, {
      output: await encodeSampleOutput(output),
      isAnswer: output.kind === 'response',
      verdict: Math.floor(sample / group_size),
    })
  }

  /** Returns undefined while an output is missing: the slot that stores the last one finds all of them. */
  async #getCompleteGroup(
    { id, spec }: Collection,
    group: number,
    hold: MemoryHold,
  ): Promise<SampleOutput[] | undefined> {
    const { samples, maxGroupBytes = MAX_GROUP_BYTES } = this.#deps
    const indexes = sampleIndexesOfGroup(group, spec.group_size)
    if (!(await samples.hasAllOutputs(id, indexes))) return undefined
    const outputs: SampleOutput[] = []
    let bytesLeft = maxGroupBytes
    for (const sample of indexes) {
      // read one at a time because all of them may not fit in memory
      const encoded = await samples.getOutput(id, sample)
      if (!encoded) return undefined // another slot submitted the group in the meantime
      const decoded = decodeSampleOutput(encoded, bytesLeft)
      bytesLeft -= decoded?.bytes ?? 0
      if (maxGroupBytes - bytesLeft > SMALL_GROUP_BYTES) await hold.reserve()
      const tooLarge = { kind: 'failed', detail: `The group's outputs are over ${maxGroupBytes} bytes` } as const
      outputs.push(decoded?.output ?? tooLarge)
    }
    return outputs
  }

  async #submitGroup(
    job: Collection,
    { group, item, outputs }: { group: number; item: string; outputs: SampleOutput[] },
    { slot, sample }: { slot: number; sample: number },
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
      claimed: sample,
      sampleCount: outputs.length,
      failures: listRolloutFailures(outputs, submitted),
      failedCount: outputs.length - scores.length,
    })
    if (result.kind !== 'recorded') return undefined
    await samples.deleteOutputs(job.id, sampleIndexesOfGroup(group, group_size))
    await aggregator.finalizeIfOver(job.id, result)
    return undefined
  }
}

/** Returns the condition that keeps a collection from recreating its run after the run is deleted. */
function requireIncarnation({ spec: { incarnation } }: Collection): RunCondition {
  return [incarnation]
}

function requeueIfRestored(error: unknown): Requeue {
  if (error instanceof ServiceError && RUN_RESTORED_CODES.includes(error.code))
    return { delayMs: RUN_RESTORED_RETRY_MS }
  throw error
}

function sampleIndexesOfGroup(group: number, groupSize: number): number[] {
  return Array.from({ length: groupSize }, (_, k) => group * groupSize + k)
}

/** Includes the tokens and logprobs that the model's server returned and masks the prompt tokens. */
function buildRollout(output: SampleOutput): Rollout {
  if (output.kind !== 'response')
    return { completion: '', finish_reason: 'error', extra: { reason: output.kind === 'failed' ? output.detail : '' } }
  const { response } = output
  const { content, reasoning, tool_calls, finish_reason, length_tokens } = response
  return {
    ...(reasoning === undefined && !tool_calls
      ? { completion: content }
      : { messages: [buildAssistantMessage(response)] }),
    finish_reason,
    ...(length_tokens !== undefined && { length_tokens }),
    ...buildTokenFields(response),
  }
}

function buildTokenFields({
  prompt_token_ids: prompt = [],
  token_ids,
  logprobs,
}: ModelResponse): Pick<Rollout, 'tokens' | 'masks' | 'logprobs'> {
  if (!token_ids) return logprobs ? { logprobs } : {}
  const masked = prompt.map(() => -100)
  return {
    tokens: [...prompt, ...token_ids],
    masks: [...masked, ...token_ids],
    ...(logprobs?.length === token_ids.length && { logprobs: [...prompt.map(() => 1), ...logprobs] }),
  }
}

/** Returns the scores of the rollouts that count in the group's mean, or none if the group is not scored. */
function listCountedScores(group: Group | undefined): number[] {
  if (group?.status !== 'scored') return []
  return (group.verdicts ?? []).flatMap(({ score, skipped }) => (score === null || skipped ? [] : [score]))
}

/** Returns why rollouts have no score: the model gave no completion, or the completion could not be scored. */
function listRolloutFailures(outputs: readonly SampleOutput[], group: Group | undefined): FailureCause[] {
  return outputs.flatMap((output, k): FailureCause[] => {
    if (output.kind === 'failed') return [{ code: 'generation_failed', detail: output.detail }]
    const verdict = group?.verdicts?.[k]
    return verdict?.status === 'unscored' ? [{ code: verdict.code, detail: verdict.detail }] : []
  })
}
