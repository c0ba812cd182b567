/** Evals as their users see them: begun, looked at, ended, resumed. */
import { ServiceError } from '../../contract/errors.ts'
import type { EvalInput, EvalSummary, EvalView, ModelInput } from '../../contract/eval.ts'
import type { Producer } from '../../platform/queue/producer.ts'
import { VERSION } from '../../platform/version.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../items/prompt.ts'
import type { Runs } from '../runs/runs.ts'
import type { EvalAggregator } from './eval-aggregator.ts'
import { buildEvalView, hasLabel, pickStatistics, type StoredEval } from './eval-view.ts'
import type { GenerationJobRepository } from './generation-job-repository.ts'
import type { EvalSpec, ModelSpec } from './generation-job-spec.ts'
import { enqueueSlotJobs } from './job-slots.ts'
import type { EgressPolicy } from './model-client/egress-policy.ts'
import { assertModelUrlAllowed } from './model-client/guarded-fetch.ts'
import { encodeSuiteItem, type SuiteItem, type Suites } from './suites.ts'

const MAX_SAMPLES = 200_000
const SINGLE_SAMPLE_TEMPERATURE = 0.1
const MULTI_SAMPLE_TEMPERATURE = 1

export interface EvalFilter {
  run?: string | undefined
  suite?: string | undefined
  label?: string | undefined
  limit: number
}

interface EvalsDeps {
  generationJobs: GenerationJobRepository
  suites: Suites
  runs: Runs
  producer: Producer
  aggregator: EvalAggregator
  egressPolicy: EgressPolicy
  engineVersion: string
}

export class Evals {
  readonly #deps: EvalsDeps

  constructor(parts: EvalsDeps) {
    this.#deps = parts
  }

  /** Begins an eval under an id of the caller's; the same id again is the same eval. */
  async start(id: string, input: EvalInput): Promise<StoredEval> {
    const { generationJobs: samplings, producer } = this.#deps
    const { spec, items } = await this.#buildSpec(input)
    const total = items.length * spec.samples_per_item
    if (total > MAX_SAMPLES)
      throw new ServiceError('invalid_request', `An eval may have ${MAX_SAMPLES} samples, this one would have ${total}`)
    const secret = input.model?.api_key
    await samplings.create('eval', { id, spec, total, items: items.map(encodeSuiteItem), modelApiKey: secret })
    const made = await this.require(id)
    if (made.spec.model) await enqueueSlotJobs(producer, id, made.spec.model.concurrency, made.total)
    return made
  }

  /** Throws `unknown_eval`. */
  async require(id: string): Promise<StoredEval> {
    const found = await this.#deps.generationJobs.get(id)
    const spec = found?.spec as EvalSpec | undefined // written by begin
    if (!found || spec?.kind !== 'eval')
      throw new ServiceError('unknown_eval', `There is no eval ${JSON.stringify(id)}, or it is no longer kept`)
    return { ...found, spec }
  }

  /** Newest first. */
  async list({ run, suite, label, limit }: EvalFilter): Promise<EvalSummary[]> {
    const found: EvalSummary[] = []
    for (const id of await this.#deps.generationJobs.listIds('eval')) {
      if (found.length >= limit) break
      const one = await this.#deps.generationJobs.get(id)
      if (!one) continue
      const view = buildEvalView({ ...one, spec: one.spec as EvalSpec }) // of this kind
      if ((run ?? view.run) !== view.run || (suite ?? view.suite.name) !== view.suite.name) continue
      if (label !== undefined && !hasLabel(view.labels, label)) continue
      found.push({ ...view, result: view.result && pickStatistics(view.result) })
    }
    return found
  }

  /** Cancels what is not over; the result is of what was there. */
  async cancel(id: string): Promise<StoredEval> {
    const { status } = await this.require(id)
    if (status === 'queued' || status === 'running') await this.#deps.aggregator.finalize(id, 'cancelled')
    return this.require(id)
  }

  /** Goes on with an eval that was cancelled or has failures; finished samples are not asked for again. */
  async resume(id: string, apiKey: string | undefined): Promise<StoredEval> {
    const { generationJobs: samplings, producer, aggregator: results } = this.#deps
    const { spec, status, total } = await this.require(id)
    if (!spec.model) throw new ServiceError('invalid_request', 'Only evals whose model the server calls can be resumed')
    if (status === 'queued' || status === 'running') return this.require(id)
    const failed = await results.listFailedSamples(id, total)
    if (!(await samplings.reopen(id, failed, apiKey)))
      throw new ServiceError('unknown_eval', `Eval ${id} is no longer kept`)
    await enqueueSlotJobs(producer, id, spec.model.concurrency, total)
    return this.require(id)
  }

  /** Ends an eval whose completions the caller brings: what has not come is missing. */
  async finish(id: string): Promise<StoredEval> {
    const { spec } = await this.require(id)
    if (spec.model) throw new ServiceError('invalid_request', 'This eval ends by itself; DELETE cancels it')
    await this.#deps.aggregator.finalize(id, 'done')
    return this.require(id)
  }

  buildView(found: StoredEval): EvalView {
    return buildEvalView(found)
  }

  async #buildSpec(input: EvalInput): Promise<{ spec: EvalSpec; items: SuiteItem[] }> {
    const run = input.run === undefined ? undefined : await this.#deps.runs.getOrCreate(input.run)
    const from = run?.settings ?? DEFAULT_PROMPT_SETTINGS
    const { suite, items } = await this.#resolveSuite(input, run?.settings)
    const temperature =
      input.temperature === undefined
        ? input.samples_per_item > 1
          ? MULTI_SAMPLE_TEMPERATURE
          : SINGLE_SAMPLE_TEMPERATURE
        : input.temperature
    const spec: EvalSpec = {
      kind: 'eval',
      model: input.model && (await buildModelSpec(input.model, { ...input, temperature }, this.#deps.egressPolicy)),
      suite,
      samples_per_item: input.samples_per_item,
      temperature,
      rules: {
        extraction: input.extraction ?? run?.settings.extraction ?? 'strict',
        dual_format: input.dual_format ?? run?.settings.dual_format ?? true,
        scoring: input.scoring ?? run?.settings.scoring ?? 'upstream',
      },
      prompt: {
        system_prompt: input.system_prompt === undefined ? from.system_prompt : input.system_prompt,
        system_prompt_role: input.system_prompt_role ?? from.system_prompt_role,
      },
      run: input.run ?? null,
      step: input.step ?? null,
      labels: input.labels ?? [],
      engine: this.#deps.engineVersion,
      server: VERSION,
    }
    return { spec, items }
  }

  async #resolveSuite(
    { suite }: EvalInput,
    settings: Parameters<Suites['buildForRun']>[0] | undefined,
  ): Promise<{ suite: EvalSpec['suite']; items: SuiteItem[] }> {
    const { suites } = this.#deps
    if (typeof suite !== 'string' || suite === 'run') {
      const items =
        typeof suite !== 'string' ? await suites.buildCustom(suite) : settings ? await suites.buildForRun(settings) : []
      const name = typeof suite === 'string' ? suite : 'custom'
      return { suite: { name, version: null, sha256: null, items: items.length }, items }
    }
    const { version, sha256 } = suites.require(suite)
    const items = suites.listItems(suite)
    return { suite: { name: suite, version, sha256, items: items.length }, items }
  }
}

/** What of a request says how a model is called. Throws `invalid_request` if its address may not be called. */
export async function buildModelSpec(
  { name, base_url }: ModelInput,
  input: Pick<EvalInput, 'max_tokens' | 'top_p' | 'request' | 'seed' | 'timeout_s' | 'retries' | 'concurrency'> & {
    temperature: number | null
  },
  reach: EgressPolicy,
): Promise<ModelSpec> {
  await assertModelUrlAllowed(base_url, reach)
  const { concurrency, temperature, max_tokens, top_p, request, seed, timeout_s, retries } = input
  return {
    name,
    base_url,
    reach,
    concurrency,
    asking: { temperature, max_tokens, top_p, request, seed, timeout_s, retries },
  }
}
