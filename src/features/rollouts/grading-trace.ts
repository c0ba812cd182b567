/**
 * Builds the fields of the debug line that explains a verdict: the extraction, the score of each answer variant and the
 * outcome.
 */
import type { GradingTrace } from '../../grading/grader.ts'
import type { ScorerResult } from '../../grading/verdict.ts'
import { truncateForLog } from '../runs/run-logger.ts'

export function buildGradingTraceFields({ rollout, text, extraction, scorerResults, verdict }: GradingTrace): object {
  const scored = verdict.status === 'scored' ? verdict : undefined
  return {
    rollout,
    extraction,
    completion: text === undefined ? null : truncateForLog(text),
    answer: scored?.answer == null ? null : truncateForLog(scored.answer),
    fault: scored?.fault ?? null,
    readings: Object.fromEntries(
      scorerResults.map((result, k) => [k === 0 ? 'bare' : 'in_tags', formatResult(result)]),
    ),
    score: verdict.score,
    ...(verdict.status === 'unscored' && { code: verdict.code }),
  }
}

function formatResult(result: ScorerResult): number | string {
  switch (result.kind) {
    case 'score':
      return result.score
    case 'raised':
      return 'raised'
    case 'failed':
      return result.code
  }
}
