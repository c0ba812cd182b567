/** How a completion became a verdict, as one debug line: the extraction, each reading with its score, what came of it. */
import type { GradingTrace } from '../../grading/grader.ts'
import type { ScorerResult } from '../../grading/verdict.ts'
import { truncateForLog } from '../runs/run-logger.ts'

export function buildGradingTraceFields({
  rollout,
  text,
  extraction,
  scorerResults: readings,
  verdict,
}: GradingTrace): object {
  const scored = verdict.status === 'scored' ? verdict : undefined
  return {
    rollout,
    extraction,
    completion: text === undefined ? null : truncateForLog(text),
    answer: scored?.answer == null ? null : truncateForLog(scored.answer),
    fault: scored?.fault ?? null,
    readings: Object.fromEntries(readings.map((scoring, k) => [k === 0 ? 'bare' : 'in_tags', formatScoring(scoring)])),
    score: verdict.score,
    ...(verdict.status === 'unscored' && { code: verdict.code }),
  }
}

function formatScoring(scoring: ScorerResult): number | string {
  switch (scoring.kind) {
    case 'score':
      return scoring.score
    case 'raised':
      return 'raised'
    case 'failed':
      return scoring.code
  }
}
