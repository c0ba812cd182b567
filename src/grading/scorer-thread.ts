/** Scores one long answer, or one of a task with a scorer of its own, on a thread of the pool. */
import { parentPort } from 'node:worker_threads'
import { bindExplainer } from '@reasoning-gym-server/scorers/feedback/explainers'
import type { Violation } from '@reasoning-gym-server/scorers/feedback/violation'
import { type CustomScorerSpec, scoreWithFile } from './custom-scorer.ts'
import { applyRule, bindRule, type RuleSpec } from './scoring-rule.ts'
import type { ScorerResult } from './verdict.ts'

export interface ScorerTask {
  id: number
  spec: RuleSpec | CustomScorerSpec
  answer: string
}

/** Everything that a thread needs to explain what is wrong with an answer. */
export interface ExplainTask {
  id: number
  spec: { task: string; question: string }
  answer: string
}

/** Throws for a task without a native scorer. */
export default function scoreAnswer({ id, spec, answer }: ScorerTask): ScorerResult | Promise<ScorerResult> {
  parentPort?.postMessage(id) // starts the deadline
  if ('file' in spec) return scoreWithFile(spec, answer)
  return applyRule(bindRule(spec), answer)
}

export function explainAnswer({ id, spec, answer }: ExplainTask): Violation | undefined {
  parentPort?.postMessage(id)
  return bindExplainer(spec.task, spec.question)?.(answer)
}
