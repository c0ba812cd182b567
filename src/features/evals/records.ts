/**
 * What Redis stores of a generation job: the spec of what it does, the record of how far it is, and the keys of both.
 *
 * queued → running → done | failed | cancelled, and cancelled | failed | done → running when it is resumed.
 */

import { GenerationJobStatus } from '@reasoning-gym-server/contract/generation-job'
import { Extraction, FeedbackLevel, OpensThinking, ScoringMode, Stop } from '@reasoning-gym-server/contract/verdict'
import { z } from 'zod'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { RecordDeclaration } from '../../platform/redis/record.ts'
import { PromptSettings } from '../items/prompt.ts'
import { ModelSpec } from './models/spec.ts'
import { MAX_FAILURE_REASONS, StoredFailure } from './samples/failure-reasons.ts'

const GradingRules = z.strictObject({
  extraction: Extraction,
  stop: Stop,
  opens_thinking: OpensThinking,
  dual_format: z.boolean(),
  scoring: ScoringMode,
})

export const FrontierPlan = z.strictObject({
  tasks: z.array(z.string()),
  items_per_task: z.int(),
  seed: z.int(),
  /** Requested tasks that have no frontier, each with the reason. */
  left_out: z.record(z.string(), z.string()),
})
export type FrontierPlan = z.infer<typeof FrontierPlan>

export const EvalSpec = z.strictObject({
  kind: z.literal('eval'),
  /** Model to call; null if the caller supplies the completions. */
  model: ModelSpec.nullable(),
  suite: z.strictObject({
    name: z.string(),
    version: z.int().nullable(),
    sha256: z.string().nullable(),
    items: z.int(),
  }),
  /** Whether the items of the suite are followed by as many twins, in the same order. */
  twin: z.boolean().optional(),
  /** Plan of an eval that chooses its items as it progresses. */
  frontier: FrontierPlan.optional(),
  samples_per_item: z.int(),
  /** Absent with one try. */
  tries: z.strictObject({ count: z.int(), feedback: FeedbackLevel, retry_prompt: z.string() }).optional(),
  temperature: z.number().nullable(),
  grading_rules: GradingRules,
  prompt: PromptSettings,
  run: z.string().nullable(),
  step: z.int().nullable(),
  labels: z.union([z.array(z.string()), z.record(z.string(), z.string())]),
  engine: z.string(),
  server: z.string(),
})
export type EvalSpec = z.infer<typeof EvalSpec>

export const CollectionSpec = z.strictObject({
  kind: z.literal('collection'),
  model: ModelSpec,
  run: z.string(),
  /** UUID of the run. A later run of the same name receives nothing from the collection. */
  incarnation: z.string(),
  groups: z.int(),
  group_size: z.int(),
  buffer: z.boolean(),
})
export type CollectionSpec = z.infer<typeof CollectionSpec>

export const GenerationJobSpec = z.discriminatedUnion('kind', [EvalSpec, CollectionSpec])
export type GenerationJobSpec = z.infer<typeof GenerationJobSpec>

export type GenerationJobKind = GenerationJobSpec['kind']
export type SpecOfKind<Kind extends GenerationJobKind> = Extract<GenerationJobSpec, { kind: Kind }>

const COUNT = { kind: 'counter' } as const
const TIMESTAMP = { kind: 'timestamp' } as const

export const generationJobRecord = new RecordDeclaration({
  spec: { kind: 'json', schema: GenerationJobSpec },
  status: { kind: 'text', schema: GenerationJobStatus },
  total: COUNT,
  done: COUNT,
  failed: COUNT,
  /** Why samples have no score so far, by reason. Absent if all have one. */
  failures: { kind: 'json', schema: z.array(StoredFailure) },
  score_sum: { kind: 'sum' },
  created_at: TIMESTAMP,
  started_at: TIMESTAMP,
  ended_at: TIMESTAMP,
  resumed_at: TIMESTAMP,
  /** Result that the kind of the job aggregates. */
  result: { kind: 'json', schema: z.unknown() },
  detail: { kind: 'text' },
  /** 1 if the model has answered since the job began or was resumed. */
  answered: COUNT,
  waiting_for: { kind: 'text', schema: z.enum(['trainer', '']) },
  /** Lowest sample number that was never claimed. */
  next_sample: { kind: 'cursor' },
  output_bytes: COUNT,
  progress_event_at: TIMESTAMP,
})

const DAY_MS = 24 * 60 * 60 * 1000
/** Time after which the sweeper ends an active job; the model's API key expires at the same time. */
export const MAX_ACTIVE_MS = 7 * DAY_MS
export const SAMPLE_RETENTION_MS = 7 * DAY_MS
const RESULT_RETENTION_MS = 90 * DAY_MS

/** Constants of the scripts: fields of the record, times for which ended jobs are kept, and limits. */
export const SCRIPT_CONSTANTS = {
  JOB: generationJobRecord.constants,
  RETENTION: { result_ms: RESULT_RETENTION_MS, samples_ms: SAMPLE_RETENTION_MS },
  LIMIT: { active_ms: MAX_ACTIVE_MS, reasons: MAX_FAILURE_REASONS, event_interval_ms: 250, events: 2000 },
}

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
    result: values.result ?? null,
    detail: values.detail || null,
    waiting_for: values.waiting_for || null,
  }
}

export type JobOfKind<Kind extends GenerationJobKind> = GenerationJob<SpecOfKind<Kind>>

export function isOfKind<Kind extends GenerationJobKind>(job: GenerationJob, kind: Kind): job is JobOfKind<Kind> {
  return job.spec.kind === kind
}

export type GenerationJobKeys = ReturnType<typeof createGenerationJobKeys>

export function createGenerationJobKeys(keys: RedisKeys) {
  const lists = keys.slot('generation-jobs')
  return {
    /** Sorted set: IDs of evals or collections by creation time. All lists of jobs share a slot. */
    generationJobs: (kind: GenerationJobKind) => `${lists}:${kind}`,
    /** Sorted set: IDs of the evals or collections of one run. */
    generationJobsOfRun: (kind: GenerationJobKind, run: string) => `${lists}:${kind}:run:${run}`,
    /** Hash: job ID to run, for jobs that belong to a run. */
    generationJobRuns: `${lists}:runs`,
    /** Sorted set: IDs of the jobs that have not ended, by the time when they were created or last resumed. */
    activeGenerationJobs: `${lists}:active`,
    /** Sorted set: IDs of the jobs that a caller has started, by time. */
    callerGenerationJobs: (callerId: string) => keys.key(`caller-generation-jobs:${callerId}`),
    /** Keys of one eval or collection, all in one slot. */
    forGenerationJob(id: string) {
      const slot = keys.slot(`generation-job:${id}`)
      return {
        job: `${slot}:job`,
        modelApiKey: `${slot}:model-api-key`,
        items: `${slot}:items`,
        outputs: `${slot}:outputs`,
        verdicts: `${slot}:verdicts`,
        claims: `${slot}:claims`,
        retries: `${slot}:retries`,
        events: `${slot}:events`,
        itemClaimLock: `${slot}:item-claim-lock`,
      }
    },
  }
}
