/** The scoring rule of a task bound to one item. Its specification is plain JSON, so it can be sent to another thread. */

import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { ScoringMode } from '@reasoning-gym-server/contract/verdict'
import { createHardenedRule } from '@reasoning-gym-server/scorers/hardened/hardened-scorers'
import { NATIVE_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { type DatasetEntry, InvalidAnswerError, type ResolvedConfig } from '@reasoning-gym-server/scorers/scorer'
import { z } from 'zod'
import type { ScorerResult } from './verdict.ts'

/** What a rule needs besides the recipe of the item. */
export interface RuleInputs {
  entry: DatasetEntry
  config: ResolvedConfig
}

export type LoadRuleInputs = (recipe: Recipe) => Promise<RuleInputs>

/** Everything needed to create a rule, in plain JSON. */
export interface RuleSpec {
  task: string
  entry: DatasetEntry
  config: ResolvedConfig
  mode: ScoringMode
}

/** The score of an answer before clamping; throws InvalidAnswerError where the library raises an exception. */
export type ScoringRule = (answer: string) => number

/** Throws for a task without a native scorer. */
export function bindRule(spec: RuleSpec): ScoringRule {
  return bindMode(bindUpstreamRule(spec), spec, spec.mode)
}

/** Throws for a task without a native scorer. */
export function bindUpstreamRule({ task, entry, config }: RuleSpec): ScoringRule {
  const rule = makeRule(() => NATIVE_SCORERS[task]?.(entry))
  if (!rule) throw new Error(`${task} has no native scorer`)
  return (answer) => rule(answer, config)
}

/** The rule of an item in one mode, from its upstream rule. */
export function bindMode(
  upstream: ScoringRule,
  { task, entry, config }: Omit<RuleSpec, 'mode'>,
  mode: ScoringMode,
): ScoringRule {
  return mode === 'hardened' ? makeRule(() => createHardenedRule(task, { entry, config, upstream })) : upstream
}

/** Thrown where no rule can be made of an item: the server's fault, which costs the completions of that item alone. */
export class RuleError extends Error {}

function makeRule<Rule>(make: () => Rule): Rule {
  try {
    return make()
  } catch (cause) {
    throw new RuleError(describeCause(cause), { cause })
  }
}

function describeCause(cause: unknown): string {
  if (
    cause instanceof z.ZodError &&
    cause.issues.some((issue) => issue.code === 'invalid_type' && issue.expected === 'number')
  )
    return 'the metadata of the item holds a whole number above 2^53, which cannot be read exactly; use a config with smaller numbers'
  return cause instanceof Error ? cause.message.slice(0, 200) : String(cause)
}

export function applyRule(rule: ScoringRule, answer: string): ScorerResult {
  try {
    return { kind: 'score', score: rule(answer) }
  } catch (error) {
    if (error instanceof InvalidAnswerError) return { kind: 'raised' }
    return { kind: 'failed', code: 'scorer_crashed', detail: error instanceof Error ? error.message : String(error) }
  }
}
