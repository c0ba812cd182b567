/** Resolves the input of a new eval: the items of its suite, and every setting that the input leaves to its run or the default. */

import { ServiceError } from '../../contract/errors.ts'
import { type EvalInput, FrontierSuite, type GradingFields, isFrontier } from '../../contract/eval.ts'
import type { RunSettings } from '../../contract/run.ts'
import type { RunCondition } from '../../contract/run-condition.ts'
import { VERSION } from '../../platform/version.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../items/prompt.ts'
import type { Runs } from '../runs/runs.ts'
import type { EvalSpec } from './generation-job-spec.ts'
import type { EgressPolicy } from './model-client/egress-policy.ts'
import { buildModelSpec } from './model-spec.ts'
import type { SuiteItem, Suites } from './suites.ts'

const SINGLE_SAMPLE_TEMPERATURE = 0.1
const MULTI_SAMPLE_TEMPERATURE = 1

export interface EvalSpecBuilderDeps {
  suites: Suites
  runs: Runs
  egressPolicy: EgressPolicy
  engineVersion: string
}

/** Throws `invalid_request`, `unknown_suite`, `run_recreated` and what the items of a custom suite are rejected for. */
export async function buildEvalSpec(
  input: EvalInput,
  condition: RunCondition | undefined,
  { suites, runs, egressPolicy, engineVersion }: EvalSpecBuilderDeps,
): Promise<{ spec: EvalSpec; items: SuiteItem[] }> {
  const settings = input.run === undefined ? undefined : (await runs.getOrCreate(input.run, condition)).settings
  const { suite, items, frontier } = await resolveSuite(input.suite, settings, suites)
  const temperature = input.temperature === undefined ? defaultTemperature(input) : input.temperature
  const spec: EvalSpec = {
    kind: 'eval',
    model: input.model && (await buildModelSpec(input.model, { ...input, temperature }, egressPolicy)),
    suite,
    ...(frontier && { frontier }),
    samples_per_item: input.samples_per_item,
    temperature,
    ...resolvePromptAndRules(input, settings),
    run: input.run ?? null,
    step: input.step ?? null,
    labels: input.labels ?? [],
    engine: engineVersion,
    server: VERSION,
  }
  return { spec, items }
}

/** What the input leaves open is the run's, or else the default. */
export function resolvePromptAndRules(
  input: Pick<EvalInput, keyof typeof GradingFields>,
  settings: RunSettings | undefined,
): Pick<EvalSpec, 'grading_rules' | 'prompt'> {
  const prompt = settings ?? DEFAULT_PROMPT_SETTINGS
  return {
    grading_rules: {
      extraction: input.extraction ?? settings?.extraction ?? 'strict',
      dual_format: input.dual_format ?? settings?.dual_format ?? true,
      scoring: input.scoring ?? settings?.scoring ?? 'upstream',
    },
    prompt: {
      system_prompt: input.system_prompt === undefined ? prompt.system_prompt : input.system_prompt,
      system_prompt_role: input.system_prompt_role ?? prompt.system_prompt_role,
    },
  }
}

function defaultTemperature({ samples_per_item }: EvalInput): number {
  return samples_per_item > 1 ? MULTI_SAMPLE_TEMPERATURE : SINGLE_SAMPLE_TEMPERATURE
}

async function resolveSuite(
  suite: EvalInput['suite'],
  settings: RunSettings | undefined,
  suites: Suites,
): Promise<Pick<EvalSpec, 'suite' | 'frontier'> & { items: SuiteItem[] }> {
  if (isFrontier(suite)) return resolveFrontier(suite, suites)
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

/** Its items are chosen later. Throws `invalid_request` if none of the tasks has a ladder, and `unknown_task`. */
function resolveFrontier(suite: 'frontier' | FrontierSuite, suites: Suites) {
  const { n, seed, ...choice } = suite === 'frontier' ? FrontierSuite.parse({ mode: 'frontier' }) : suite
  const { adjustable, others } = suites.listByAdjustability(choice)
  if (adjustable.length === 0)
    throw new ServiceError('invalid_request', `There is no difficulty to adjust in ${others.join(', ')}: use a suite`)
  const left_out = Object.fromEntries(
    others.map((task) => [task, 'Its difficulty cannot be adjusted: measure it with a suite']),
  )
  const items = adjustable.length * n
  return {
    suite: { name: 'frontier', version: null, sha256: null, items },
    frontier: { tasks: adjustable, items_per_task: n, seed, left_out },
    items: [],
  }
}
