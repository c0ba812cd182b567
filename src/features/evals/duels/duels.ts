/** Implements the operations of the API on duels. GenerationJobs has what duels share with evals and collections. */
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import type { DuelInput, DuelItem, DuelView } from '@reasoning-gym-server/contract/duel'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { isActive } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { RunCondition } from '@reasoning-gym-server/contract/run-condition'
import { VERSION } from '../../../platform/version.ts'
import type { EvalAggregator } from '../eval-aggregator.ts'
import { type EvalSpecBuilderDeps, resolvePromptAndRules } from '../eval-spec-builder.ts'
import { hasLabel } from '../eval-view.ts'
import type { JobOfKind } from '../generation-job-record.ts'
import { DUEL_SIDES } from '../generation-job-spec.ts'
import type { CreateRequest, GenerationJobs, JobDescription } from '../generation-jobs.ts'
import { joinModelApiKeys } from '../model-api-keys.ts'
import { buildModelSpec } from '../model-spec.ts'
import type { SampleRepository } from '../sample-repository.ts'
import { streamEvalSamples } from '../sample-stream.ts'
import { encodeSuiteItem } from '../suites.ts'
import { buildDuelView } from './duel-view.ts'

/** Default temperature: nearly greedy, as for evals with one sample per item. */
const DEFAULT_TEMPERATURE = 0.1

interface DuelsDeps extends EvalSpecBuilderDeps {
  jobs: GenerationJobs
  samples: SampleRepository
  aggregator: EvalAggregator
}

export class Duels {
  readonly #deps: DuelsDeps

  constructor(deps: DuelsDeps) {
    this.#deps = deps
  }

  /**
   * Creates a duel. Throws `too_many_active`, `invalid_request`, `unknown_task`, and `run_recreated` if the run does
   * not meet the condition.
   */
  async create(input: DuelInput, request: CreateRequest): Promise<DuelView> {
    const { condition } = request
    // a repeated call does not run this
    if (condition !== undefined && input.run !== undefined) await this.#deps.runs.require(input.run, condition)
    return this.#deps.jobs.create(request, {
      kind: 'duel',
      input,
      modelApiKey: joinModelApiKeys([input.a.api_key, input.b.api_key]),
      scope: '',
      describe: () => this.#describe(input, condition),
      buildView: buildDuelView,
    })
  }

  /**
   * Returns the duel, with the result so far while it is active. Throws `unknown_duel`, or `forbidden` if the caller's
   * key is bound to other runs.
   */
  async requireView(id: string, caller: Caller): Promise<DuelView> {
    const job = await this.require(id, caller)
    const view = buildDuelView(job)
    return isActive(job.status) ? { ...view, result: await this.#deps.aggregator.aggregateDuel(job, true) } : view
  }

  async require(id: string, caller: Caller): Promise<JobOfKind<'duel'>> {
    const job = await this.#deps.jobs.require('duel', id)
    const { run } = job.spec
    if (run !== null && !canAccessRun(caller, run))
      throw new ServiceError(
        'forbidden',
        `This API key may not access the run ${run}, to which the duel belongs. Use a key that is bound to it, or an unbound key.`,
      )
    return job
  }

  /** Lists duels, newest first. */
  async list({ run, label, limit }: { run?: string | undefined; label?: string | undefined; limit: number }) {
    const accept = ({ spec }: JobOfKind<'duel'>) => label === undefined || hasLabel(spec.labels, label)
    return (await this.#deps.jobs.list('duel', { run, limit, accept })).map(buildDuelView)
  }

  async cancel(id: string, caller: Caller): Promise<DuelView> {
    await this.require(id, caller)
    return buildDuelView(await this.#deps.jobs.cancel('duel', id))
  }

  async resume(id: string, caller: Caller, apiKeys: { a?: string | undefined; b?: string | undefined }) {
    await this.require(id, caller)
    const apiKey = joinModelApiKeys([apiKeys.a, apiKeys.b])
    return buildDuelView(await this.#deps.jobs.resume('duel', id, { caller, apiKey }))
  }

  async streamEvents(
    id: string,
    caller: Caller,
    lastEventId: string,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<string>> {
    await this.require(id, caller)
    return this.#deps.jobs.streamEvents(id, lastEventId, signal)
  }

  /** Streams the items that both models have answered, in the order in which the test takes them. */
  async streamItems(id: string, caller: Caller): Promise<AsyncGenerator<DuelItem>> {
    const { result } = await this.requireView(id, caller)
    const counted = (result?.items ?? 0) + (result?.skipped ?? 0)
    return this.#streamItems(await this.require(id, caller), counted)
  }

  async *#streamItems(job: JobOfKind<'duel'>, counted: number): AsyncGenerator<DuelItem> {
    let index = 0
    let first: DuelItem['a'] | undefined
    for await (const { item_id, status, score, answer, completion } of streamEvalSamples(this.#deps.samples, job)) {
      const side = status === 'missing' ? undefined : { score, answer, completion }
      if (index % DUEL_SIDES === 0) first = side
      else if (first && side) {
        const position = (index - 1) / DUEL_SIDES
        yield { item_id, task: decodeItemId(item_id).task, counted: position < counted, a: first, b: side }
      }
      index++
    }
  }

  async #describe(input: DuelInput, condition: RunCondition | undefined): Promise<JobDescription<'duel'>> {
    const { suites, runs, egressPolicy, engineVersion } = this.#deps
    const settings = input.run === undefined ? undefined : (await runs.getOrCreate(input.run, condition)).settings
    const { suite, max_items, alpha, smallest_difference, run, labels } = input
    const { items, tasks } = await suites.drawItems(suite, max_items)
    const temperature = input.temperature === undefined ? DEFAULT_TEMPERATURE : input.temperature
    return {
      spec: {
        kind: 'duel',
        model: await buildModelSpec(input.a, { ...input, temperature }, egressPolicy),
        opponent: await buildModelSpec(input.b, { ...input, temperature }, egressPolicy),
        suite,
        tasks,
        max_items,
        alpha,
        smallest_difference,
        ...resolvePromptAndRules(input, settings),
        run: run ?? null,
        labels: labels ?? [],
        engine: engineVersion,
        server: VERSION,
      },
      samples: items.length * DUEL_SIDES,
      items: items.map(encodeSuiteItem),
    }
  }
}
