/** Scores one long answer on a thread of the pool. */
import { parentPort } from 'node:worker_threads'
import { applyRule, bindRule, type RuleSpec } from './scoring-rule.ts'
import type { ScorerResult } from './verdict.ts'

export interface ScorerTask {
  id: number
  spec: RuleSpec
  answer: string
}

/** Throws for a task without a native scorer. */
export default function scoreAnswer({ id, spec, answer }: ScorerTask): ScorerResult {
  parentPort?.postMessage(id) // starts the deadline
  return applyRule(bindRule(spec), answer)
}
