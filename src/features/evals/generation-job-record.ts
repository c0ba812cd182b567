/**
 * The stored record of a generation job, whether an eval or a collection.
 *   queued → running → done | failed | cancelled,   cancelled | failed | done → running when it is resumed
 */
import { z } from 'zod'
import { GenerationJobStatus } from '../../contract/eval.ts'
import { type GenerationJobKind, GenerationJobSpec, type SpecOfKind } from './generation-job-spec.ts'

const Milliseconds = z.coerce.number()
const Count = z.coerce.number().default(0)
const Json = z.string().transform((text): unknown => JSON.parse(text))

/** The hash of a job. Fields that only scripts use: `next_sample`, `output_bytes`, `progress_event_at`. */
export const GenerationJobFields = z.object({
  spec: Json.pipe(GenerationJobSpec),
  status: GenerationJobStatus,
  /** Samples wanted. */
  total: Count,
  done: Count,
  failed: Count,
  /** Sum of the scores so far. */
  score_sum: Count,
  created_at: Milliseconds,
  started_at: Milliseconds.nullable().default(null),
  ended_at: Milliseconds.nullable().default(null),
  resumed_at: Milliseconds.nullable().default(null),
  /** As EvalAggregator builds it for the kind. */
  result: Json.default(null),
  /** Why it failed. */
  detail: z
    .string()
    .default('')
    .transform((text) => text || null),
  waiting_for: z
    .enum(['trainer', ''])
    .default('')
    .transform((value) => value || null),
})

export type GenerationJob<Spec extends GenerationJobSpec = GenerationJobSpec> = Omit<
  z.infer<typeof GenerationJobFields>,
  'spec'
> & { id: string; spec: Spec }

export type JobOfKind<Kind extends GenerationJobKind> = GenerationJob<SpecOfKind<Kind>>

export function isOfKind<Kind extends GenerationJobKind>(job: GenerationJob, kind: Kind): job is JobOfKind<Kind> {
  return job.spec.kind === kind
}
