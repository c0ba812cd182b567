/** Evals as they are shown. */

import { EvalResult, EvalStatistics, type EvalView } from '../../contract/eval.ts'
import type { StoredGenerationJob } from './generation-job-repository.ts'
import type { EvalSpec } from './generation-job-spec.ts'

/** An eval with its spec. */
export interface StoredEval extends StoredGenerationJob {
  spec: EvalSpec
}

export function buildProgress({
  done,
  total,
  failed,
  score,
}: Pick<StoredGenerationJob, 'done' | 'total' | 'failed' | 'score'>): EvalView['progress'] {
  return { done, total, failed, mean_score: done > failed ? score / (done - failed) : null }
}

export function buildEvalView(found: StoredEval): EvalView {
  const { spec, result, id, status, detail } = found
  const { model, suite, samples_per_item, run, step, labels } = spec
  const finished = result === null ? null : EvalResult.parse(result)
  const sha256 = suite.sha256 ?? (finished?.repeat.suite as { sha256?: string } | undefined)?.sha256 ?? null // as result-maker writes it
  return {
    id,
    status,
    model: model && { name: model.name, base_url: model.base_url },
    suite: { name: suite.name, sha256, items: suite.items },
    samples_per_item,
    run,
    step,
    labels,
    created_at: new Date(found.created).toISOString(),
    started_at: found.started === null ? null : new Date(found.started).toISOString(),
    ended_at: found.ended === null ? null : new Date(found.ended).toISOString(),
    progress: buildProgress(found),
    detail,
    result: finished,
  }
}

export function hasLabel(labels: EvalView['labels'], label: string): boolean {
  if (Array.isArray(labels)) return labels.includes(label)
  return Object.entries(labels).some(([key, value]) =>
    [key, value, `${key}=${value}`, `${key}:${value}`].includes(label),
  )
}

export function pickStatistics(result: EvalResult): EvalStatistics {
  const names = Object.keys(EvalStatistics.shape) as (keyof EvalStatistics)[] // the shape is Figures
  return Object.fromEntries(names.map((name) => [name, result[name]])) as unknown as EvalStatistics // with each of its fields
}
