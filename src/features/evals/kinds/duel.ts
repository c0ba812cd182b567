/** Duels: two models answer the same items until one is shown to be better, or the difference is shown to be small. */
import { type DuelInput, type DuelItem, DuelResult, type DuelView } from '@reasoning-gym-server/contract/duel'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { VERSION } from '../../../platform/installation.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { GenerationJobs, JobAddress } from '../generation-jobs.ts'
import type { EvalParts } from '../job-items.ts'
import { buildJobState, hasLabel, type JobDescription, type JobKind } from '../job-kinds.ts'
import { buildModelSpec } from '../models/spec.ts'
import { DUEL_SIDES, type JobOfKind } from '../records.ts'
import { streamEvalSamples } from '../samples/stream.ts'
import { encodeSuiteItem } from '../suites.ts'
import { aggregateDuel } from './duel-result.ts'
import { resolvePromptAndRules } from './eval.ts'

/** Default temperature: nearly greedy, as for evals with one sample per item. */
const DEFAULT_TEMPERATURE = 0.1

export function createDuelKind(deps: EvalParts): JobKind<'duel'> {
  return {
    kind: 'duel',
    getRunName: ({ run }) => run,
    listApiKeys: ({ a, b }) => [a.api_key, b.api_key],
    describe: (input, run) => describeDuel(input, run, deps),
    matches: ({ spec }, { label }) => label === undefined || hasLabel(spec.labels, label),
    aggregate: (job) => aggregateDuel(job, deps),
    buildView: buildDuelView,
    buildSummary: buildDuelView,
    buildEvent: (view) => view,
  }
}

async function describeDuel(
  input: DuelInput,
  run: ResolvedRun | undefined,
  { suites, egressPolicy, engineVersion }: EvalParts,
): Promise<JobDescription<'duel'>> {
  const { suite, max_items, alpha, smallest_difference } = input
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
      ...resolvePromptAndRules(input, run?.settings),
      run: input.run ?? null,
      labels: input.labels ?? [],
      engine: engineVersion,
      server: VERSION,
    },
    samples: items.length * DUEL_SIDES,
    items: items.map(encodeSuiteItem),
  }
}

function buildDuelView(job: JobOfKind<'duel'>): DuelView {
  const { model, opponent, tasks, max_items, alpha, smallest_difference, run, labels } = job.spec
  return {
    id: job.id,
    status: job.status,
    a: { name: model.name, base_url: model.base_url },
    b: { name: opponent.name, base_url: opponent.base_url },
    tasks,
    max_items,
    alpha,
    smallest_difference,
    run,
    labels,
    ...buildJobState(job),
    result: job.result === null ? null : DuelResult.parse(job.result),
  }
}

interface DuelsDeps extends EvalParts {
  jobs: GenerationJobs<'duel'>
}

/** The operations of the API on duels that other generation jobs do not have. */
export class Duels {
  readonly jobs: GenerationJobs<'duel'>
  readonly #deps: DuelsDeps

  constructor(deps: DuelsDeps) {
    this.jobs = deps.jobs
    this.#deps = deps
  }

  /** Streams the items that both models have answered, in the order in which the test takes them. */
  async streamItems(address: JobAddress): Promise<AsyncGenerator<DuelItem>> {
    const { result } = await this.jobs.requireView(address)
    const counted = (result?.items ?? 0) + (result?.skipped ?? 0)
    return this.#streamItems(await this.jobs.require(address), counted)
  }

  async *#streamItems(job: JobOfKind<'duel'>, counted: number): AsyncGenerator<DuelItem> {
    let index = 0
    let first: DuelItem['a'] | undefined
    for await (const { item_id, status, score, answer, completion } of streamEvalSamples(this.#deps, job)) {
      const side = status === 'missing' ? undefined : { score, answer, completion }
      if (index % DUEL_SIDES === 0) first = side
      else if (first && side) {
        const position = (index - 1) / DUEL_SIDES
        yield { item_id, task: decodeItemId(item_id).task, counted: position < counted, a: first, b: side }
      }
      index++
    }
  }
}
