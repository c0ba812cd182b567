/** A task's rule bound to one item: what it is made from can be sent to another thread, what it says is a scoring. */
import { SCORERS } from '../scorers/catalogue.ts'
import { harden } from '../scorers/hardened/catalogue.ts'
import { type Entry, type FullConfig, InvalidAnswer } from '../scorers/scorer.ts'
import type { Scoring } from '../scoring/verdicts.ts'
import type { Recipe } from '../words/recipe.ts'
import type { ScoringMode } from '../words/verdict.ts'

/** What is known of an item besides its recipe. */
export type ItemFacts = (recipe: Recipe) => Promise<{ entry: Entry; config: FullConfig }>

/** All that a rule is made from, in plain JSON. */
export interface RuleParts {
  task: string
  entry: Entry
  config: FullConfig
  mode: ScoringMode
}

/** The score of an answer before clamping; throws InvalidAnswer where the library raises. */
export type Rule = (answer: string) => number

/** Throws for a task that has no rule here. */
export function bindRule({ task, entry, config, mode }: RuleParts): Rule {
  const rule = SCORERS[task]?.(entry)
  if (!rule) throw new Error(`${task} has no native scorer`)
  const upstream = (answer: string) => rule(answer, config)
  return mode === 'hardened' ? harden(task, { entry, config, upstream }) : upstream
}

export function scoringBy(rule: Rule, answer: string): Scoring {
  try {
    return { kind: 'score', score: rule(answer) }
  } catch (error) {
    if (error instanceof InvalidAnswer) return { kind: 'raised' }
    return { kind: 'failed', code: 'scorer_crashed', detail: error instanceof Error ? error.message : String(error) }
  }
}
