/** How a completion became a verdict, as one debug line: the extraction, each reading with its score, what came of it. */
import type { Trace } from '../items/judge.ts'
import type { Scoring } from '../scoring/verdicts.ts'
import { cutForLog } from './run-log.ts'

export function judgingLine({ rollout, text, extraction, readings, verdict }: Trace): object {
  const scored = verdict.status === 'scored' ? verdict : undefined
  return {
    rollout,
    extraction,
    completion: text === undefined ? null : cutForLog(text),
    answer: scored?.answer == null ? null : cutForLog(scored.answer),
    fault: scored?.fault ?? null,
    readings: Object.fromEntries(readings.map((scoring, k) => [k === 0 ? 'bare' : 'in_tags', told(scoring)])),
    score: verdict.score,
    ...(verdict.status === 'unscored' && { code: verdict.code }),
  }
}

function told(scoring: Scoring): number | string {
  switch (scoring.kind) {
    case 'score':
      return scoring.score
    case 'raised':
      return 'raised'
    case 'failed':
      return scoring.code
  }
}
