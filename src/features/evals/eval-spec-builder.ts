/**
 * Resolves the input of a new eval: the items of its suite, and the settings that the input leaves to the run or the
 * defaults.
 */

import { type EvalInput, type FrontierSuite, type GradingFields, isFrontier } from '@reasoning-gym-server/contract/eval'
import type { RunCondition } from '@reasoning-gym-server/contract/run-condition'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { VERSION } from '../../platform/version.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../items/prompt.ts'
import type { Runs } from '../runs/runs.ts'
import type { Ladders } from '../tasks/ladders.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import { planFrontier } from './frontier/frontier-plan.ts'
import type { EvalSpec } from './generation-job-spec.ts'
import type { EgressPolicy } from './model-client/egress-policy.ts'
import { buildModelSpec } from './model-spec.ts'
import type { SuiteItem, Suites } from './suites.ts'

const SINGLE_SAMPLE_TEMPERATURE = 0.1
const MULTI_SAMPLE_TEMPERATURE = 1

export interface EvalSpecBuilderDeps {
  suites: Suites
  runs: Runs
  ladders: Ladders
  cards: TaskCards
  egressPolicy: EgressPolicy
  engineVersion: string
}

/**
 * Builds the spec. Throws `invalid_request`, `unknown_suite`, `run_recreated` and the errors that reject the items of a
 * custom suite.
 */
export async function buildEvalSpec(
  input: EvalInput,
  condition: RunCondition | undefined,
  { suites, runs, ladders, cards, egressPolicy, engineVersion }: EvalSpecBuilderDeps,
): Promise<{ spec: EvalSpec; items: SuiteItem[] }> {
  const settings = input.run === undefined ? undefined : (await runs.getOrCreate(input.run, condition)).settings
  const rules = resolvePromptAndRules(input, settings)
  const { suite, items, frontier } = isFrontier(input.suite)
    ? { ...planFrontier(input.suite, rules.grading_rules.scoring, { suites, ladders, cards }), items: [] }
    : await resolveSuite(input.suite, settings, suites)
  const temperature = input.temperature === undefined ? defaultTemperature(input) : input.temperature
  const spec: EvalSpec = {
    kind: 'eval',
    model: input.model && (await buildModelSpec(input.model, { ...input, temperature }, egressPolicy)),
    suite,
    ...(frontier && { frontier }),
    samples_per_item: input.samples_per_item,
    temperature,
    ...rules,
    run: input.run ?? null,
    step: input.step ?? null,
    labels: input.labels ?? [],
    engine: engineVersion,
    server: VERSION,
  }
  return { spec, items }
}

/** Takes what the input leaves out from the run, or otherwise from the defaults. */
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
