/**
 * The stored record of a generation job, whether an eval or a collection.
 *
 * queued → running → done | failed | cancelled, and cancelled | failed | done → running when it is resumed.
 */

import { GenerationJobStatus } from '@reasoning-gym-server/contract/eval'
import { z } from 'zod'
import { RecordDeclaration } from '../../platform/redis/record.ts'
import { type GenerationJobKind, GenerationJobSpec, type SpecOfKind } from './generation-job-spec.ts'
import { readStoredResult, StoredFailure } from './sample-failures.ts'

const COUNT = { kind: 'counter' } as const
const TIMESTAMP = { kind: 'timestamp' } as const

export const generationJobRecord = new RecordDeclaration({
  spec: { kind: 'json', schema: GenerationJobSpec },
  status: { kind: 'text', schema: GenerationJobStatus },
  /** Number of samples requested. */
  total: COUNT,
  done: COUNT,
  failed: COUNT,
  /** Why samples have no score so far, by reason. Absent if all have one. */
  failures: { kind: 'json', schema: z.array(StoredFailure) },
  /** Sum of the scores so far. */
  score_sum: { kind: 'sum' },
  created_at: TIMESTAMP,
  started_at: TIMESTAMP,
  ended_at: TIMESTAMP,
  resumed_at: TIMESTAMP,
  /** Result that EvalAggregator builds for this kind of job. */
  result: { kind: 'json', schema: z.unknown() },
  /** Reason for the failure, or empty. */
  detail: { kind: 'text' },
  /** 1 for each model of the job that has answered since the job began or was resumed, by its index. */
  answered: { kind: 'counters', prefix: 'answered_by_', names: /^[01]$/ },
  waiting_for: { kind: 'text', schema: z.enum(['trainer', '']) },
  /** Lowest sample number that was never claimed. */
  next_sample: { kind: 'cursor' },
  output_bytes: COUNT,
  progress_event_at: TIMESTAMP,
})
type StoredValues = Required<ReturnType<typeof generationJobRecord.parse>>
type Count = 'total' | 'done' | 'failed' | 'score_sum'
type OptionalField = 'started_at' | 'ended_at' | 'resumed_at' | 'detail'

export type GenerationJob<Spec extends GenerationJobSpec = GenerationJobSpec> = Pick<
  StoredValues,
  'status' | 'created_at' | 'result' | 'failures' | Count
> & { [Field in OptionalField]: StoredValues[Field] | null } & { id: string; spec: Spec; waiting_for: 'trainer' | null }

/** Returns undefined if the job does not exist. Throws if a field does not match its declaration. */
export function parseGenerationJob(id: string, hash: Readonly<Record<string, string>>): GenerationJob | undefined {
  const { spec, status, created_at, ...values } = generationJobRecord.parse(hash)
  if (status === undefined) return undefined
  if (!spec || created_at === undefined) throw new TypeError(`The stored job ${id} is incomplete`)
  return {
    id,
    spec,
    status,
    total: values.total ?? 0,
    done: values.done ?? 0,
    failed: values.failed ?? 0,
    failures: values.failures ?? [],
    score_sum: values.score_sum ?? 0,
    created_at,
    started_at: values.started_at ?? null,
    ended_at: values.ended_at ?? null,
    resumed_at: values.resumed_at ?? null,
    result: readStoredResult(values.result) ?? null,
    detail: values.detail || null,
    waiting_for: values.waiting_for || null,
  }
}

export type JobOfKind<Kind extends GenerationJobKind> = GenerationJob<SpecOfKind<Kind>>

export function isOfKind<Kind extends GenerationJobKind>(job: GenerationJob, kind: Kind): job is JobOfKind<Kind> {
  return job.spec.kind === kind
}
