/** Declares a kind of job, and binds a processor to it. */
import type { z } from 'zod'

/** Thrown by a processor whose job would fail again at every attempt. */
export { UnrecoverableError } from 'bullmq'

export interface JobDefinition<Data = unknown> {
  /** Also the name of its queue. */
  readonly name: string
  /** Only references to the work; the work itself is stored by the feature before the job is added. */
  readonly data: z.ZodType<Data>
  readonly attempts: number
  readonly backoffMs: number
  /** Failed jobs are not kept: the sweeper adds the work again while it is needed. */
  readonly discardFailures?: boolean
  /** How long a job stays with a worker that was killed, if less than JOB_LOCK_S. */
  readonly lockMs?: number
}

/** The job is not finished: it returns to the end of the queue after `delayMs`, without counting as an attempt. */
export interface Requeue {
  delayMs: number
  /** Only this worker cannot do it now, so other workers should take it first. */
  preferOtherWorker?: true
}

/** For a worker that lacks a requirement of the job, such as a running engine. */
export const REQUEUE_ON_OTHER_WORKER: Requeue = { delayMs: 2_000, preferOtherWorker: true }

export interface JobAttempt {
  /** Counted from 1. */
  attempt: number
  isLastAttempt: boolean
  /** Aborted when the worker shuts down. */
  signal: AbortSignal
}

type JobProcessor<Data> = (data: Data, attempt: JobAttempt) => Promise<Requeue | undefined> | Promise<void>

/** A kind of job, together with its processor. */
export interface JobConsumer {
  readonly definition: JobDefinition
  /** Jobs that one worker process has in flight. */
  readonly concurrency: number
  /** Parses the stored data and processes the job. */
  readonly run: JobProcessor<unknown>
}

export function consumeJob<Data>(
  definition: JobDefinition<Data>,
  concurrency: number,
  process: JobProcessor<Data>,
): JobConsumer {
  return { definition, concurrency, run: (data, attempt) => process(definition.data.parse(data), attempt) }
}
