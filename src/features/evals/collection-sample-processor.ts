/** One sample of a collection: the run's next items are taken, asked for group_size times, and posted like any group. */
import { ServiceError } from '../../contract/errors.ts'
import type { Group, Rollout } from '../../contract/rollout.ts'
import type { Requeue } from '../../platform/queue/job-definition.ts'
import { buildPromptMessages } from '../items/prompt.ts'
import type { RolloutSubmission } from '../rollouts/rollout-submission.ts'
import { countBufferOccupancy, type RunRepository } from '../runs/repository.ts'
import type { ResolvedRun } from '../runs/resolved-run.ts'
import type { Runs } from '../runs/runs.ts'
import type { ItemQueue } from '../runs/sequence/item-queue.ts'
import type { CollectedGroup } from './collection-result.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import type { EvalItemCache } from './eval-item-cache.ts'
import type { GenerationJobRepository, StoredGenerationJob } from './generation-job-repository.ts'
import type { CollectionSpec } from './generation-job-spec.ts'
import { ModelRequestError } from './model-client/model-client.ts'
import type { ModelResponse } from './model-client/model-response.ts'
import type { ModelClients } from './model-clients.ts'
import {
  buildAssistantMessage,
  decodeSampleOutputWithin,
  encodeSampleOutput,
  type SampleOutput,
} from './sample-output.ts'
import type { SampleRepository } from './sample-repository.ts'

/** Items that are taken at once. */
const MAX_ITEMS_PER_CLAIM = 8
const CLAIM_LEASE_MS = 30_000
const CLAIM_RETRY_MS = 150
const ITEMS_NOT_READY_RETRY_MS = 1_000
const BUFFER_FULL_RETRY_MS = 3_000
const SCORING_TIMEOUT_MS = 20_000
/** Room for the answers of a group, as JSON: as much as a body of POST /rollouts may have. */
const MAX_GROUP_BYTES = 64 * 1024 * 1024

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

  constructor(parts: CollectionSampleProcessorDeps) {
    this.#deps = parts
  }

  /** What to do later if it cannot be done now; may be called again for the same sample. */
  async process(
    found: StoredGenerationJob,
    spec: CollectionSpec,
    sample: number,
    lane: number,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { samples } = this.#deps
    const group = Math.floor(sample / spec.group_size)
    const [posted] = await samples.listVerdicts(found.id, group, group + 1)
    if (!posted) {
      const run = await this.#deps.runs.getOrCreate(spec.run)
      const item = (await samples.getItem(found.id, group)) ?? (await this.#claimItem(found.id, spec, run, group))
      if (typeof item !== 'string') return item
      const kept = await samples.getCompletion(found.id, sample)
      if (!kept)
        await samples.storeCompletion(
          found.id,
          sample,
          encodeSampleOutput(await this.#generate(found, spec, run, item, sample, signal)),
        )
      const texts = await this.#getCompleteGroup(found.id, spec, group)
      if (texts) return this.#submitGroup(found, spec, { group, item, texts }, lane)
    }
    await samples.releaseSlot(found.id, lane)
    return undefined
  }

  /** The run's next items go on the list; the item of this group is among them, or it is not its turn yet. */
  async #claimItem(
    id: string,
    { groups, buffer }: CollectionSpec,
    run: ResolvedRun,
    group: number,
  ): Promise<string | Requeue> {
    const { generationJobs: samplings, samples, itemQueue: handout } = this.#deps
    if (buffer && (await this.#isBufferFull(run))) return this.#pauseForTrainer(id)
    if (!(await samples.acquireItemLock(id, CLAIM_LEASE_MS))) return { delayMs: CLAIM_RETRY_MS }
    try {
      const taken = (await samples.listItems(id)).length
      if (taken <= group) {
        const { items } = await handout.next(run, Math.min(MAX_ITEMS_PER_CLAIM, groups - taken))
        if (items.length === 0) return await this.#pauseForTrainer(id)
        await samples.appendItems(
          id,
          items.map((item) => item.id),
        )
      }
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'items_not_ready')
        return { delayMs: ITEMS_NOT_READY_RETRY_MS }
      throw error
    } finally {
      await samples.releaseItemLock(id)
    }
    await samplings.setField(id, 'paused', '')
    return (await samples.getItem(id, group)) ?? { delayMs: CLAIM_RETRY_MS }
  }

  async #isBufferFull(run: ResolvedRun): Promise<boolean> {
    return countBufferOccupancy(await this.#deps.storedRuns.readBacklog(run)) >= run.settings.buffer_max_groups
  }

  /** The trainer is behind: nothing is asked of the model until there is room. */
  async #pauseForTrainer(id: string): Promise<Requeue> {
    await this.#deps.generationJobs.setField(id, 'paused', 'trainer')
    return { delayMs: BUFFER_FULL_RETRY_MS }
  }

  async #generate(
    found: StoredGenerationJob,
    { model: called, group_size }: CollectionSpec,
    run: ResolvedRun,
    item: string,
    sample: number,
    signal: AbortSignal,
  ): Promise<SampleOutput> {
    const { items, modelClients: models } = this.#deps
    const { question } = await items.getOrCreate({ id: item, question: undefined })
    const model = await models.getOrCreate(found, called)
    const { seed, ...asking } = called.asking
    const own = seed === undefined ? {} : { seed: seed + (sample % group_size) }
    try {
      const request = { ...own, ...asking.request }
      const reply = await model.complete(buildPromptMessages(question, run.settings), { ...asking, request }, signal)
      return { kind: 'reply', reply }
    } catch (error) {
      if (error instanceof ModelRequestError) return { kind: 'failed', detail: error.message }
      throw error
    }
  }

  /** Undefined while one is missing: whoever brings the last one finds them all. */
  async #getCompleteGroup(
    id: string,
    { group_size }: CollectionSpec,
    group: number,
  ): Promise<SampleOutput[] | undefined> {
    const { samples } = this.#deps
    const own = sampleIndexesOfGroup(group, group_size)
    if (!(await samples.hasCompletions(id, own))) return undefined
    const texts: SampleOutput[] = []
    let left = MAX_GROUP_BYTES
    for (const sample of own) {
      const packed = await samples.getCompletion(id, sample) // one at a time: together they may be more than a process has room for
      if (!packed) return undefined // posted meanwhile
      const unpacked = decodeSampleOutputWithin(packed, left)
      left -= unpacked?.bytes ?? 0
      texts.push(unpacked?.text ?? { kind: 'failed', detail: `the group's answers are over ${MAX_GROUP_BYTES} bytes` })
    }
    return texts
  }

  async #submitGroup(
    found: StoredGenerationJob,
    spec: CollectionSpec,
    { group, item, texts }: { group: number; item: string; texts: SampleOutput[] },
    lane: number,
  ): Promise<Requeue | undefined> {
    const { samples, rolloutSubmission: intake, aggregator: results } = this.#deps
    const group_id = `${found.id}.${group}`
    const rollouts = texts.map(buildRollout)
    let posted: Group | undefined
    try {
      if (texts.some(({ kind }) => kind !== 'failed'))
        [posted] = await intake.submitAndWait(
          spec.run,
          [{ group_id, item_id: item, buffer: spec.buffer, rollouts }],
          SCORING_TIMEOUT_MS,
        )
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'buffer_full') return this.#pauseForTrainer(found.id)
      throw error
    }
    const { status = 'failed', destination = null, mean_score = null } = posted ?? {}
    const verdict: CollectedGroup = { group_id, status, destination, mean_score }
    const scores = listCountedScores(posted)
    const recorded = await samples.record(found.id, group, {
      verdict,
      score: scores.reduce((sum, score) => sum + score, 0),
      slot: lane,
      sampleCount: texts.length,
      failedCount: texts.length - scores.length,
    })
    if (recorded.kind !== 'recorded') return undefined
    await samples.deleteCompletions(found.id, sampleIndexesOfGroup(group, spec.group_size))
    if (recorded.done >= recorded.total) await results.finalize(found.id, 'done')
    return undefined
  }
}

function sampleIndexesOfGroup(group: number, groupSize: number): number[] {
  return Array.from({ length: groupSize }, (_, k) => group * groupSize + k)
}

/** Of the rollouts that count in the group's mean: a failure has no score, and none of a group is known before it is scored. */
function listCountedScores(group: Group | undefined): number[] {
  if (group?.status !== 'scored') return []
  return (group.verdicts ?? []).flatMap(({ score, skipped }) => (score === null || skipped ? [] : [score]))
}

/** With the tokens and logprobs that the model's server told; what is not the model's own is masked. */
function buildRollout(text: SampleOutput): Rollout {
  if (text.kind !== 'reply')
    return { completion: '', finish_reason: 'error', extra: { reason: text.kind === 'failed' ? text.detail : '' } }
  const { reply } = text
  const { content, reasoning, tool_calls, finish_reason, length_tokens } = reply
  return {
    ...(reasoning === undefined && !tool_calls
      ? { completion: content }
      : { messages: [buildAssistantMessage(reply)] }),
    finish_reason,
    ...(length_tokens !== undefined && { length_tokens }),
    ...buildTokenFields(reply),
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
