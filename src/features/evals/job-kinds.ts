/**
 * What tells the kinds of generation jobs apart: the rules of each kind in one table, and the functions that each kind
 * provides in a file of kinds/. GenerationJobs does the rest for all of them.
 */
import type { CollectionInput, CollectionView } from '@reasoning-gym-server/contract/collection'
import type { ErrorCode } from '@reasoning-gym-server/contract/errors'
import type { Eval, EvalInput, EvalSummary } from '@reasoning-gym-server/contract/eval'
import type { GenerationJobStatus } from '@reasoning-gym-server/contract/generation-job'
import type { ResolvedRun } from '../runs/types.ts'
import type { GenerationJob, GenerationJobKind, JobOfKind, SpecOfKind } from './records.ts'
import { listFailures } from './samples/failure-reasons.ts'

interface KindRules {
  idPrefix: string
  unknownCode: ErrorCode
  maxSamples: number
  resumable: readonly GenerationJobStatus[]
  /** Whether jobs are resources of a run, which has to exist to list them. */
  isOfRun: boolean
}

export const KIND_RULES: Record<GenerationJobKind, KindRules> = {
  eval: {
    idPrefix: 'eval',
    unknownCode: 'unknown_eval',
    maxSamples: 200_000,
    resumable: ['cancelled', 'failed', 'done'], // a job that is done may have samples without a score
    isOfRun: false,
  },
  collection: {
    idPrefix: 'collect',
    unknownCode: 'unknown_collection',
    maxSamples: 1_000_000,
    resumable: ['cancelled', 'failed'],
    isOfRun: true,
  },
}

interface JobFilter {
  run?: string | undefined
  label?: string | undefined
  limit?: number | undefined
}

export interface EvalFilter extends JobFilter {
  suite?: string | undefined
  model?: string | undefined
  /** Words that the ID, model, suite, run, status or labels contain. */
  q?: string | undefined
}

interface KindTypes {
  eval: { input: EvalInput; filter: EvalFilter; view: Eval; summary: EvalSummary }
  collection: { input: CollectionInput; filter: JobFilter; view: CollectionView; summary: CollectionView }
}
export type InputOf<Kind extends GenerationJobKind> = KindTypes[Kind]['input']
export type FilterOf<Kind extends GenerationJobKind> = KindTypes[Kind]['filter']
export type ViewOf<Kind extends GenerationJobKind> = KindTypes[Kind]['view']
export type SummaryOf<Kind extends GenerationJobKind> = KindTypes[Kind]['summary']

export interface JobDescription<Kind extends GenerationJobKind> {
  spec: SpecOfKind<Kind>
  samples: number
  /** Encoded items in order; empty if the job claims or chooses items as it needs them. */
  items: string[]
}

export interface JobKind<Kind extends GenerationJobKind> {
  kind: Kind
  /** Returns the name of the run that the input names, for a kind whose jobs are not resources of a run. */
  getRunName(input: InputOf<Kind>): string | undefined
  /** Returns the API key of the model. */
  getApiKey(input: InputOf<Kind>): string | undefined
  /** Builds what a new job does. Throws `invalid_request` and the errors that reject its items. */
  describe(input: InputOf<Kind>, run: ResolvedRun | undefined): Promise<JobDescription<Kind>>
  /** Whether the list with this filter has the job. The run is already checked. */
  matches(job: JobOfKind<Kind>, filter: FilterOf<Kind>): boolean
  /** Aggregates the samples into the result: so far if the job is active, otherwise final. */
  aggregate(job: JobOfKind<Kind>): Promise<unknown>
  buildView(job: JobOfKind<Kind>): ViewOf<Kind>
  buildSummary(job: JobOfKind<Kind>): SummaryOf<Kind>
  buildEvent(view: ViewOf<Kind>): object
}

export type JobKinds = { readonly [Kind in GenerationJobKind]: JobKind<Kind> }

/** Builds what the views of all kinds show: times in ISO 8601, progress and failures. */
export function buildJobState(job: GenerationJob) {
  return { ...buildTimes(job), progress: buildProgress(job), failures: listFailures(job.failures), detail: job.detail }
}

function buildTimes({ created_at, started_at, ended_at }: GenerationJob) {
  const format = (ms: number) => new Date(ms).toISOString()
  return {
    created_at: format(created_at),
    started_at: started_at === null ? null : format(started_at),
    ended_at: ended_at === null ? null : format(ended_at),
  }
}

function buildProgress({ done, total, failed, score_sum }: GenerationJob) {
  return { done, total, failed, mean_score: done > failed ? score_sum / (done - failed) : null }
}

/** Matches a label: `name` for one without a value, or the name, the value or `name=value` of one with a value. */
export function hasLabel(labels: Eval['labels'], label: string): boolean {
  if (Array.isArray(labels)) return labels.includes(label)
  return Object.entries(labels).some(([key, value]) =>
    [key, value, `${key}=${value}`, `${key}:${value}`].includes(label),
  )
}
