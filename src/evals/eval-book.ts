/** Evals as their users see them: begun, looked at, ended, resumed. */
import { Fault } from '../faults.ts'
import { DEFAULT_PROMPT } from '../items/messages.ts'
import { assertCallable } from '../models/guarded-fetch.ts'
import type { Reach } from '../models/reach.ts'
import type { Producer } from '../queue/producer.ts'
import type { RunBook } from '../runs/run-book.ts'
import type { Samplings } from '../store/samplings.ts'
import { VERSION } from '../version.ts'
import type { EvalInput, EvalSummary, EvalView, ModelInput } from '../words/eval.ts'
import { addLanes } from './lanes.ts'
import type { ResultMaker } from './result-maker.ts'
import type { CalledModel, EvalSpec } from './spec.ts'
import { type SuiteItem, type Suites, writeItem } from './suites.ts'
import { figuresAlone, hasLabel, type OpenEval, viewOf } from './view.ts'

const SAMPLES_MOST = 200_000
const COLD = 0.1
const WARM = 1

export interface EvalFilter {
  run?: string | undefined
  suite?: string | undefined
  label?: string | undefined
  limit: number
}

interface Parts {
  samplings: Samplings
  suites: Suites
  runs: RunBook
  producer: Producer
  results: ResultMaker
  reach: Reach
  engineVersion: string
}

export class EvalBook {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Begins an eval under an id of the caller's; the same id again is the same eval. */
  async begin(id: string, input: EvalInput): Promise<OpenEval> {
    const { samplings, producer } = this.#parts
    const { spec, items } = await this.#specOf(input)
    const total = items.length * spec.samples_per_item
    if (total > SAMPLES_MOST)
      throw new Fault('invalid_request', `An eval may have ${SAMPLES_MOST} samples, this one would have ${total}`)
    const secret = input.model?.api_key
    await samplings.create('eval', { id, spec, total, items: items.map(writeItem), secret })
    const made = await this.find(id)
    if (made.spec.model) await addLanes(producer, id, made.spec.model.concurrency, made.total)
    return made
  }

  /** Throws `unknown_eval`. */
  async find(id: string): Promise<OpenEval> {
    const found = await this.#parts.samplings.find(id)
    const spec = found?.spec as EvalSpec | undefined // written by begin
    if (!found || spec?.kind !== 'eval')
      throw new Fault('unknown_eval', `There is no eval ${JSON.stringify(id)}, or it is no longer kept`)
    return { ...found, spec }
  }

  /** Newest first. */
  async list({ run, suite, label, limit }: EvalFilter): Promise<EvalSummary[]> {
    const found: EvalSummary[] = []
    for (const id of await this.#parts.samplings.ids('eval')) {
      if (found.length >= limit) break
      const one = await this.#parts.samplings.find(id)
      if (!one) continue
      const view = viewOf({ ...one, spec: one.spec as EvalSpec }) // of this kind
      if ((run ?? view.run) !== view.run || (suite ?? view.suite.name) !== view.suite.name) continue
      if (label !== undefined && !hasLabel(view.labels, label)) continue
      found.push({ ...view, result: view.result && figuresAlone(view.result) })
    }
    return found
  }

  /** Cancels what is not over; the result is of what was there. */
  async cancel(id: string): Promise<OpenEval> {
    const { status } = await this.find(id)
    if (status === 'queued' || status === 'running') await this.#parts.results.end(id, 'cancelled')
    return this.find(id)
  }

  /** Goes on with an eval that was cancelled or has failures; finished samples are not asked for again. */
  async resume(id: string, apiKey: string | undefined): Promise<OpenEval> {
    const { samplings, producer, results } = this.#parts
    const { spec, status, total } = await this.find(id)
    if (!spec.model) throw new Fault('invalid_request', 'Only evals whose model the server calls can be resumed')
    if (status === 'queued' || status === 'running') return this.find(id)
    const failed = await results.failedSamples(id, total)
    if (!(await samplings.reopen(id, failed, apiKey))) throw new Fault('unknown_eval', `Eval ${id} is no longer kept`)
    await addLanes(producer, id, spec.model.concurrency, total)
    return this.find(id)
  }

  /** Ends an eval whose completions the caller brings: what has not come is missing. */
  async finish(id: string): Promise<OpenEval> {
    const { spec } = await this.find(id)
    if (spec.model) throw new Fault('invalid_request', 'This eval ends by itself; DELETE cancels it')
    await this.#parts.results.end(id, 'done')
    return this.find(id)
  }

  view(found: OpenEval): EvalView {
    return viewOf(found)
  }

  async #specOf(input: EvalInput): Promise<{ spec: EvalSpec; items: SuiteItem[] }> {
    const run = input.run === undefined ? undefined : await this.#parts.runs.ensure(input.run)
    const from = run?.settings ?? DEFAULT_PROMPT
    const { suite, items } = await this.#suiteOf(input, run?.settings)
    const temperature = input.temperature === undefined ? (input.samples_per_item > 1 ? WARM : COLD) : input.temperature
    const spec: EvalSpec = {
      kind: 'eval',
      model: input.model && (await calledModel(input.model, { ...input, temperature }, this.#parts.reach)),
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
      engine: this.#parts.engineVersion,
      server: VERSION,
    }
    return { spec, items }
  }

  async #suiteOf(
    { suite }: EvalInput,
    settings: Parameters<Suites['ofRun']>[0] | undefined,
  ): Promise<{ suite: EvalSpec['suite']; items: SuiteItem[] }> {
    const { suites } = this.#parts
    if (typeof suite !== 'string' || suite === 'run') {
      const items =
        typeof suite !== 'string' ? await suites.custom(suite) : settings ? await suites.ofRun(settings) : []
      const name = typeof suite === 'string' ? suite : 'custom'
      return { suite: { name, version: null, sha256: null, items: items.length }, items }
    }
    const { version, sha256 } = suites.find(suite)
    const items = suites.items(suite)
    return { suite: { name: suite, version, sha256, items: items.length }, items }
  }
}

/** What of a request says how a model is called. Throws `invalid_request` if its address may not be called. */
export async function calledModel(
  { name, base_url }: ModelInput,
  input: Pick<EvalInput, 'max_tokens' | 'top_p' | 'request' | 'seed' | 'timeout_s' | 'retries' | 'concurrency'> & {
    temperature: number | null
  },
  reach: Reach,
): Promise<CalledModel> {
  await assertCallable(base_url, reach)
  const { concurrency, temperature, max_tokens, top_p, request, seed, timeout_s, retries } = input
  return {
    name,
    base_url,
    reach,
    concurrency,
    asking: { temperature, max_tokens, top_p, request, seed, timeout_s, retries },
  }
}
