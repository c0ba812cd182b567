/** The operations of the API on evals that other generation jobs do not have. */
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Eval, EvalComparison, FlippedItem } from '@reasoning-gym-server/contract/eval'
import type { CompletionInput, EvalSample, EvalSamplePage } from '@reasoning-gym-server/contract/eval-sample'
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { mean } from '../../grading/statistics.ts'
import type { MeasuredItem, RunEvals } from '../runs/types.ts'
import type { Ladders } from '../tasks/ladders.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import type { JobAggregator } from './aggregator.ts'
import { computeComparison } from './comparison.ts'
import type { ExternalCompletions, SamplePrompt, SampleShare } from './external-completions.ts'
import type { GenerationJobs, JobAddress } from './generation-jobs.ts'
import type { OpenJobItems } from './job-items.ts'
import { type FlippedItemFilter, listFlippedItems, pairItems } from './pairing.ts'
import type { JobOfKind } from './records.ts'
import { getSample, listSamplePage, type SamplePageQuery } from './samples/pages.ts'
import type { SampleRepository } from './samples/repository.ts'
import { streamEvalSamples, streamVerdicts } from './samples/stream.ts'
import type { Suites } from './suites.ts'

interface EvalsDeps {
  jobs: GenerationJobs<'eval'>
  openItems: OpenJobItems
  samples: SampleRepository
  suites: Suites
  ladders: Ladders
  cards: TaskCards
  aggregator: JobAggregator
  externalCompletions: ExternalCompletions
}

export class Evals {
  readonly jobs: GenerationJobs<'eval'>
  readonly #deps: EvalsDeps

  constructor(deps: EvalsDeps) {
    this.jobs = deps.jobs
    this.#deps = deps
  }

  /** Ends an eval of external completions. Samples without a completion count as missing. */
  async finish(address: JobAddress): Promise<Eval> {
    const { id, spec } = await this.jobs.require(address)
    if (spec.model)
      throw new ServiceError(
        'invalid_request',
        'This eval ends by itself, because the server calls its model. Use DELETE to cancel it.',
      )
    await this.#deps.aggregator.finalize(id, 'done')
    return this.jobs.requireView(address)
  }

  async compare(idA: string, idB: string, caller: Caller): Promise<EvalComparison> {
    const [a, b] = await this.#requireBoth(idA, idB, caller)
    return computeComparison(a, b, this.#deps)
  }

  /** Lists the items that one eval has right and the other wrong. */
  async listFlippedItems(
    { a: idA, b: idB, ...filter }: FlippedItemFilter & { a: string; b: string },
    caller: Caller,
  ): Promise<FlippedItem[]> {
    const [a, b] = await this.#requireBoth(idA, idB, caller)
    return listFlippedItems(await pairItems(a, b, this.#deps), filter)
  }

  #requireBoth(a: string, b: string, caller: Caller): Promise<[JobOfKind<'eval'>, JobOfKind<'eval'>]> {
    return Promise.all([this.jobs.require({ id: a, caller }), this.jobs.require({ id: b, caller })])
  }

  /**
   * Returns the measurements that a run may start from. Throws `unknown_eval`, `forbidden`, and the errors of
   * `measureEval`.
   */
  measure: RunEvals['measure'] = async (id, caller) => {
    const job = await this.jobs.require({ id, caller })
    return { scoring: job.spec.grading_rules.scoring, items: await measureEval(job, this.#deps) }
  }

  async streamSamples(address: JobAddress): Promise<AsyncGenerator<EvalSample>> {
    return streamEvalSamples(this.#deps, await this.jobs.require(address))
  }

  /** Returns one page of samples. Throws `forbidden` for expected answers that the caller may not see. */
  async listSamples(address: JobAddress, query: SamplePageQuery): Promise<EvalSamplePage> {
    return listSamplePage(this.#deps, await this.jobs.require(address), query, address.caller)
  }

  async getSample(address: JobAddress, sampleId: string): Promise<EvalSample> {
    return getSample(this.#deps, await this.jobs.require(address), sampleId, address.caller)
  }

  async listSamplePrompts(address: JobAddress, share: SampleShare): Promise<SamplePrompt[]> {
    return this.#deps.externalCompletions.listSamplePrompts(await this.jobs.require(address), share)
  }

  /** Records completions. `new` counts those of samples that had none. */
  async submitCompletions(
    address: JobAddress,
    completions: CompletionInput[],
  ): Promise<Pick<Eval, 'id' | 'status' | 'progress'> & { new: number }> {
    const job = await this.jobs.require(address)
    if (!isActive(job.status) && job.status !== 'done')
      throw new ServiceError('invalid_request', `This eval is ${job.status} and accepts no more completions`)
    const added = isActive(job.status) ? await this.#deps.externalCompletions.submit(job, completions) : 0
    const { id, status, progress } = await this.jobs.requireView(address)
    return { new: added, id, status, progress }
  }
}

/**
 * Returns the scored items in eval order, without items of earlier ladders, whose difficulties now have another
 * meaning. Throws `invalid_request` if there are none or the eval has not ended.
 */
async function measureEval(
  job: JobOfKind<'eval'>,
  { openItems, samples, ladders }: EvalsDeps,
): Promise<MeasuredItem[]> {
  if (isActive(job.status)) throw cannotStart(`The eval ${job.id} has not ended`, 'use it once its status is done')
  const { items: suiteItems, indexOf } = await openItems(job).list()
  const recipes = suiteItems.map(({ id }) => decodeItemId(id))
  const scores = recipes.map((): number[] => [])
  for await (const [sample, verdict] of streamVerdicts(samples, job)) {
    if (verdict?.score !== null && verdict !== null) scores[indexOf(sample)]?.push(verdict.score)
  }
  const items = recipes.flatMap((recipe, k): MeasuredItem[] => {
    const { task, difficulty } = recipe
    const own = scores[k] ?? []
    if (difficulty === null || own.length === 0 || !ladders.isCurrent(recipe)) return []
    return [{ task, difficulty, score: mean(own), samples: own.length }]
  })
  if (items.length === 0)
    throw cannotStart(
      `The eval ${job.id} has no scored items on the current ladders, or they have expired`,
      'must be an eval on the suite `frontier` or `ladder-2`, or on items with a difficulty',
    )
  return items
}

function cannotStart(message: string, hint: string): ServiceError {
  return new ServiceError('invalid_request', message, { errors: [{ path: 'curriculum_start.eval', message: hint }] })
}
