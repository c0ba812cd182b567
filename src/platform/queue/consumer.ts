/** Takes jobs from the queues and runs their processors. */
import { DelayedError, type Job, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { JobConsumer, JobDefinition } from './job-definition.ts'
import type { JobActivity, JobWorkers } from './stuck-workers.ts'

/** Without this pause, the worker that delayed a job would often be the first to take it when it is due. */
const YIELD_TO_OTHERS_MS = 500
const MAX_STALLED_COUNT = 10

interface ConsumersOptions {
  connection: Redis
  prefix: string
  /** A job whose worker was killed is taken by another worker after about this time. */
  lockMs: number
  onError: (error: Error, queue: string) => void
  /** Notes which queues jobs are taken from. */
  activity?: JobActivity
  /** Called with the outcome of each attempt of a job. */
  onOutcome?: (queue: string, outcome: 'completed' | 'retried' | 'failed') => void
}

/** Starts one BullMQ worker per kind of job. Throws if one of `definitions` has no consumer: its jobs would wait forever. */
export function startConsumers(
  definitions: readonly JobDefinition[],
  consumers: readonly JobConsumer[],
  options: ConsumersOptions,
): JobWorkers {
  for (const definition of definitions) {
    if (!consumers.some((consumer) => consumer.definition === definition))
      throw new Error(`No processor for jobs of the queue ${definition.name}`)
  }
  const shutdown = new AbortController()
  const workers = consumers.map((consumer) => startWorker(consumer, options, shutdown.signal))
  return {
    async close() {
      shutdown.abort()
      await Promise.all(workers.map((worker) => worker.close()))
    },
    abandon() {
      shutdown.abort()
      for (const worker of workers) void worker.close(true).catch(() => {})
    },
  }
}

function startWorker(
  { definition, concurrency, run }: JobConsumer,
  { connection, prefix, lockMs: mostLockMs, onError, onOutcome = () => {}, activity }: ConsumersOptions,
  signal: AbortSignal,
): Worker {
  const { name } = definition
  const lockMs = Math.min(definition.lockMs ?? mostLockMs, mostLockMs)
  const handleJob = async (job: Job, token?: string) => {
    const requeue = await run(job.data, {
      attempt: job.attemptsMade + 1,
      isLastAttempt: isLastAttempt(job, definition),
      signal,
    })
    if (!requeue) return
    if (requeue.preferOtherWorker) pauseWorker(worker, requeue.delayMs + YIELD_TO_OTHERS_MS, signal)
    await job.moveToDelayed(Date.now() + requeue.delayMs, token)
    throw new DelayedError()
  }
  const trackJob = (job: Job, token?: string) =>
    activity ? activity.track(name, () => handleJob(job, token)) : handleJob(job, token)
  const worker = new Worker(name, trackJob, {
    connection,
    prefix,
    concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs / 2,
    maxStalledCount: MAX_STALLED_COUNT,
  })
  worker.on('error', (error) => onError(error, name))
  worker.on('completed', () => onOutcome(name, 'completed'))
  worker.on('failed', (job) => onOutcome(name, job?.finishedOn === undefined ? 'retried' : 'failed'))
  return worker
}

function pauseWorker(worker: Worker, ms: number, signal: AbortSignal): void {
  if (worker.isPaused()) return
  void worker.pause(true)
  setTimeout(() => signal.aborted || worker.resume(), ms).unref()
}

function isLastAttempt(job: Job, { attempts }: JobDefinition): boolean {
  return job.attemptsMade + 1 >= (job.opts.attempts ?? attempts)
}
