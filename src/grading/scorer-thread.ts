/** Scores one long answer, or one of a task with a scorer of its own, on a thread of the pool. */
import { parentPort } from 'node:worker_threads'
import { type CustomScorerSpec, scoreWithFile } from './custom-scorer.ts'
import { applyRule, bindRule, type RuleSpec } from './scoring-rule.ts'
import type { ScorerResult } from './verdict.ts'

export interface ScorerTask {
  id: number
  spec: RuleSpec | CustomScorerSpec
  answer: string
}

/** Throws for a task without a native scorer. */
export default function scoreAnswer({ id, spec, answer }: ScorerTask): ScorerResult | Promise<ScorerResult> {
  parentPort?.postMessage(id) // starts the deadline
  if ('file' in spec) return scoreWithFile(spec, answer)
  return applyRule(bindRule(spec), answer)
}
