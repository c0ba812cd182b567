/** Evals: one model measured on one suite. What a new eval does, which lists have it, and how the API shows it. */
import {
  type Eval,
  type EvalInput,
  EvalResult,
  EvalStatistics,
  type EvalSummary,
  getDefaultTemperature,
} from '@reasoning-gym-server/contract/eval'
import type { GradingFields } from '@reasoning-gym-server/contract/generation-job'
import { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { type FrontierSuite, isFrontier } from '@reasoning-gym-server/contract/suite'
import { VERSION } from '../../../platform/installation.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../../items/prompt.ts'
import type { EvalParts } from '../job-items.ts'
import { buildJobState, type EvalFilter, hasLabel, type JobKind } from '../job-kinds.ts'
import { buildModelSpec } from '../models/spec.ts'
import type { EvalSpec, JobOfKind } from '../records.ts'
import { drawTwin, encodeSuiteItem, type SuiteItem, type Suites } from '../suites.ts'
import { aggregateEval } from './eval-result.ts'
import { planFrontier } from './frontier.ts'

export function createEvalKind(deps: EvalParts): JobKind<'eval'> {
  return {
    kind: 'eval',
    getRunName: ({ run }) => run,
    getApiKey: ({ model }) => model?.api_key,
    async describe(input, run) {
      const { spec, items } = await buildEvalSpec(input, run?.settings, deps)
      const itemCount = spec.frontier ? spec.suite.items : items.length
      return { spec, samples: itemCount * spec.samples_per_item, items: items.map(encodeSuiteItem) }
    },
    matches: matchesFilter,
    aggregate: (job) => aggregateEval(job, deps),
    buildView: buildEvalView,
    buildSummary: buildEvalSummary,
    buildEvent: (view) => view,
  }
}

/** Builds the spec. Throws `invalid_request`, `unknown_suite` and the errors that reject the items of a custom suite. */
async function buildEvalSpec(
  input: EvalInput,
  settings: RunSettings | undefined,
  deps: EvalParts,
): Promise<{ spec: EvalSpec; items: SuiteItem[] }> {
  const { suites, egressPolicy, engineVersion } = deps
  const rules = resolvePromptAndRules(input, settings)
  const { suite, items, frontier } = isFrontier(input.suite)
    ? { ...planFrontier(input.suite, rules.grading_rules.scoring, deps), items: [] }
    : await resolveSuite(input.suite, settings, suites)
  const temperature = input.temperature === undefined ? getDefaultTemperature(input) : input.temperature
  const spec: EvalSpec = {
    kind: 'eval',
    model: input.model && (await buildModelSpec(input.model, { ...input, temperature }, egressPolicy)),
    suite,
    ...(input.twin && { twin: true }),
    ...(frontier && { frontier }),
    samples_per_item: input.samples_per_item,
    ...(input.tries > 1 && { tries: resolveTries(input, settings) }),
    temperature,
    ...rules,
    run: input.run ?? null,
    step: input.step ?? null,
    labels: input.labels ?? [],
    engine: engineVersion,
    server: VERSION,
  }
  return { spec, items: input.twin ? [...items, ...items.map(drawTwin)] : items }
}

/** Takes what the input leaves out from the run, or otherwise from the defaults. */
function resolvePromptAndRules(
  input: Pick<EvalInput, keyof typeof GradingFields>,
  settings: RunSettings | undefined,
): Pick<EvalSpec, 'grading_rules' | 'prompt'> {
  const prompt = settings ?? DEFAULT_PROMPT_SETTINGS
  return {
    grading_rules: {
      extraction: input.extraction ?? settings?.extraction ?? 'strict',
      stop: input.stop ?? settings?.stop ?? null,
      opens_thinking: input.opens_thinking ?? settings?.opens_thinking ?? false,
      dual_format: input.dual_format ?? settings?.dual_format ?? true,
      scoring: input.scoring ?? settings?.scoring ?? 'upstream',
    },
    prompt: {
      system_prompt: input.system_prompt === undefined ? prompt.system_prompt : input.system_prompt,
      system_prompt_role: input.system_prompt_role ?? prompt.system_prompt_role,
      clarify: input.clarify ?? prompt.clarify,
    },
  }
}

function resolveTries(input: EvalInput, settings: RunSettings | undefined): NonNullable<EvalSpec['tries']> {
  const { feedback, retry_prompt } = settings ?? RunSettings.parse({})
  return {
    count: input.tries,
    feedback: input.feedback ?? feedback,
    retry_prompt: input.retry_prompt ?? retry_prompt,
  }
}

async function resolveSuite(
  suite: Exclude<EvalInput['suite'], FrontierSuite>,
  settings: RunSettings | undefined,
  suites: Suites,
): Promise<Pick<EvalSpec, 'suite' | 'frontier'> & { items: SuiteItem[] }> {
  if (typeof suite === 'string' && suite !== 'run') {
    const { version, sha256 } = suites.require(suite)
    const items = suites.listItems(suite)
    return { suite: { name: suite, version, sha256, items: items.length }, items }
  }
  const items =
    typeof suite !== 'string' ? await suites.buildCustom(suite) : settings ? await suites.buildForRun(settings) : []
  const name = typeof suite === 'string' ? suite : 'custom'
  return { suite: { name, version: null, sha256: null, items: items.length }, items }
}

function matchesFilter(job: JobOfKind<'eval'>, { suite, label, model, q = '' }: EvalFilter): boolean {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const { spec } = job
  return (
    (suite === undefined || suite === spec.suite.name) &&
    (label === undefined || hasLabel(spec.labels, label)) &&
    (model === undefined || model === spec.model?.name) &&
    hasWords(job, words)
  )
}

export function buildEvalView(job: JobOfKind<'eval'>): Eval {
  const { model, suite, samples_per_item, run, step, labels } = job.spec
  const result = job.result === null ? null : EvalResult.parse(job.result)
  // see buildRepeat
  const sha256 = suite.sha256 ?? (result?.repeat.suite as { sha256?: string } | undefined)?.sha256 ?? null
  return {
    id: job.id,
    status: job.status,
    model: model && { name: model.name, base_url: model.base_url },
    suite: { name: suite.name, sha256, items: suite.items },
    samples_per_item,
    run,
    step,
    labels,
    ...buildJobState(job),
    result,
  }
}

function buildEvalSummary(job: JobOfKind<'eval'>): EvalSummary {
  const view = buildEvalView(job)
  return {
    ...view,
    result: view.result && pickStatistics(view.result),
    difficulty_at_half: view.result?.frontier?.difficulty_at_half ?? null,
  }
}

/** Whether the words, in lower case, all occur in what names an eval. */
function hasWords({ id, status, spec }: JobOfKind<'eval'>, words: readonly string[]): boolean {
  const labels = Array.isArray(spec.labels) ? spec.labels : Object.entries(spec.labels).flat()
  const text = [id, status, spec.model?.name ?? '', spec.suite.name, spec.run ?? '', ...labels].join(' ').toLowerCase()
  return words.every((word) => text.includes(word))
}

function pickStatistics(result: EvalResult): EvalStatistics {
  const names = Object.keys(EvalStatistics.shape) as (keyof EvalStatistics)[] // the keys of its own shape
  return Object.fromEntries(names.map((name) => [name, result[name]])) as unknown as EvalStatistics // all of them
}
