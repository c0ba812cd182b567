/** Converts evals to their representation in the API. */
import { EvalResult, EvalStatistics, type EvalSummary, type EvalView } from '@reasoning-gym-server/contract/eval'
import type { GenerationJob, JobOfKind } from './generation-job-record.ts'
import { listFailures } from './sample-failures.ts'

export function buildProgress({
  done,
  total,
  failed,
  score_sum,
}: Pick<GenerationJob, 'done' | 'total' | 'failed' | 'score_sum'>): EvalView['progress'] {
  return { done, total, failed, mean_score: done > failed ? score_sum / (done - failed) : null }
}

/** Formats when a job was created, started and ended, in ISO 8601. */
export function buildTimes({ created_at, started_at, ended_at }: GenerationJob) {
  const format = (ms: number) => new Date(ms).toISOString()
  return {
    created_at: format(created_at),
    started_at: started_at === null ? null : format(started_at),
    ended_at: ended_at === null ? null : format(ended_at),
  }
}

export function buildEvalView(job: JobOfKind<'eval'>): EvalView {
  const { model, suite, samples_per_item, run, step, labels } = job.spec
  const result = job.result === null ? null : EvalResult.parse(job.result)
  // see buildRepeat
  const sha256 = suite.sha256 ?? (result?.repeat.suite as { sha256?: string } | undefined)?.sha256 ?? null
  return {
    id: job.id,
    status: job.status,
    model: model && { name: model.name, base_url: model.base_url },
    suite: { name: suite.name, sha256, items: suite.items },
    samples_per_item,
    run,
    step,
    labels,
    ...buildTimes(job),
    progress: buildProgress(job),
    failures: listFailures(job.failures),
    detail: job.detail,
    result,
  }
}

export function buildEvalSummary(job: JobOfKind<'eval'>): EvalSummary {
  const view = buildEvalView(job)
  return {
    ...view,
    result: view.result && pickStatistics(view.result),
    difficulty_at_half: view.result?.frontier?.difficulty_at_half ?? null,
  }
}

/** Matches a label: `name` for one without a value, or the name, the value or `name=value` of one with a value. */
export function hasLabel(labels: EvalView['labels'], label: string): boolean {
  if (Array.isArray(labels)) return labels.includes(label)
  return Object.entries(labels).some(([key, value]) =>
    [key, value, `${key}=${value}`, `${key}:${value}`].includes(label),
  )
}

/** Whether the words, in lower case, all occur in what names an eval. */
export function hasWords({ id, status, spec }: JobOfKind<'eval'>, words: readonly string[]): boolean {
  const labels = Array.isArray(spec.labels) ? spec.labels : Object.entries(spec.labels).flat()
  const text = [id, status, spec.model?.name ?? '', spec.suite.name, spec.run ?? '', ...labels].join(' ').toLowerCase()
  return words.every((word) => text.includes(word))
}

function pickStatistics(result: EvalResult): EvalStatistics {
  const names = Object.keys(EvalStatistics.shape) as (keyof EvalStatistics)[] // the keys of its own shape
  return Object.fromEntries(names.map((name) => [name, result[name]])) as unknown as EvalStatistics // all of them
}
