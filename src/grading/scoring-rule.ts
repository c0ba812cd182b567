/** A task's rule bound to one item: what it is made from can be sent to another thread, what it says is a scoring. */

import type { Recipe } from '../contract/recipe.ts'
import type { ScoringMode } from '../contract/verdict.ts'
import { createHardenedRule } from '../scorers/hardened/hardened-scorers.ts'
import { NATIVE_SCORERS } from '../scorers/native-scorers.ts'
import { type DatasetEntry, InvalidAnswerError, type ResolvedConfig } from '../scorers/scorer.ts'
import type { ScorerResult } from './verdict.ts'

/** What is known of an item besides its recipe. */
export type LoadRuleInputs = (recipe: Recipe) => Promise<{ entry: DatasetEntry; config: ResolvedConfig }>

/** All that a rule is made from, in plain JSON. */
export interface RuleSpec {
  task: string
  entry: DatasetEntry
  config: ResolvedConfig
  mode: ScoringMode
}

/** The score of an answer before clamping; throws InvalidAnswer where the library raises. */
export type ScoringRule = (answer: string) => number

/** Throws for a task that has no rule here. */
export function bindRule({ task, entry, config, mode }: RuleSpec): ScoringRule {
  const rule = NATIVE_SCORERS[task]?.(entry)
  if (!rule) throw new Error(`${task} has no native scorer`)
  const upstream = (answer: string) => rule(answer, config)
  return mode === 'hardened' ? createHardenedRule(task, { entry, config, upstream }) : upstream
}

export function applyRule(rule: ScoringRule, answer: string): ScorerResult {
  try {
    return { kind: 'score', score: rule(answer) }
  } catch (error) {
    if (error instanceof InvalidAnswerError) return { kind: 'raised' }
    return { kind: 'failed', code: 'scorer_crashed', detail: error instanceof Error ? error.message : String(error) }
  }
}
