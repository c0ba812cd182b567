/** The jobs that workers do. A job is a group or a batch, never one answer; its data only say where the work lies. */
import { z } from 'zod'
import { DumpKind } from '../../contract/dump.ts'

const GroupJobData = z.strictObject({ run: z.string(), epoch: z.int(), group: z.string() })

/** `request`: id of the request that posted it, for the log; `text_bytes`: of its texts as they are unpacked. */
const ScoreGroupJobData = GroupJobData.extend({ request: z.string().optional(), text_bytes: z.int().optional() })

/** One of the requests in flight of an eval or collection. */
const SlotJobData = z.strictObject({ sampling: z.string(), lane: z.int().min(0) })
const RunJobData = z.strictObject({ run: z.string(), epoch: z.int() })

export const JOBS = {
  /** Reads, scores and completes a posted group. Waiting for the engine uses up none of its tries. */
  'score-group': { data: ScoreGroupJobData, attempts: 6, backoffMs: 500 },
  /** Writes a dump file whose groups are fixed. Begun again by the sweeper until it is written. */
  'write-dump': {
    data: z.strictObject({ run: z.string(), uuid: z.string(), kind: DumpKind, number: z.int() }),
    attempts: 6,
    backoffMs: 500,
    forgetFailures: true,
  },
  /** Asks a model for a few samples in a row. Begun again by the sweeper as long as samples are wanted. */
  sample: { data: SlotJobData, attempts: 10, backoffMs: 1000, forgetFailures: true, lockMs: 15_000 },
  /** Makes a run's items ahead of demand. */
  'prepare-items': { data: RunJobData, attempts: 1, backoffMs: 500, forgetFailures: true },
} as const

export type JobName = keyof typeof JOBS
export type JobData<Name extends JobName> = z.infer<(typeof JOBS)[Name]['data']>

/** The job is not over: it goes to the end of the queue, after a while if need be; that uses up no try. */
export interface Requeue {
  delayMs: number
  /** It is this worker that cannot do it now: the others are to have it first. */
  preferOtherWorker?: true
}

/** Of a job that found the engine down. */
export const REQUEUE_ENGINE_DOWN: Requeue = { delayMs: 2_000, preferOtherWorker: true }

/** What a worker does for each kind of job; a missing one is a type error. `last` says that no further try follows. */
export type JobProcessors = {
  [Name in JobName]: (
    data: JobData<Name>,
    attempt: { last: boolean; signal: AbortSignal },
  ) => Promise<Requeue | undefined> | Promise<void>
}
