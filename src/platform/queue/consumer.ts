/** Takes jobs off the queues and hands each to its processor. */
import { DelayedError, type Job, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { JOBS, type JobData, type JobName, type JobProcessors } from './job-definitions.ts'

/** A job whose worker was killed is taken up again after about this time. */
const DEFAULT_LOCK_MS = 30_000
/** Without it the worker that put a job off would often be the one to wake first when it is due. */
const YIELD_TO_OTHERS_MS = 500

interface StartConsumersOptions {
  connection: Redis
  prefix: string
  concurrency: Record<JobName, number>
  onError: (error: Error) => void
  /** How each try of a job ended. */
  onOutcome?: (queue: JobName, outcome: 'completed' | 'retried' | 'failed') => void
}

/** Starts one BullMQ worker for each kind of job. */
export function startConsumers(
  processors: JobProcessors,
  { connection, prefix, concurrency, onError, onOutcome = () => {} }: StartConsumersOptions,
): { close(): Promise<void> } {
  const stopping = new AbortController()
  const stepBack = (worker: Worker, ms: number) => {
    if (worker.isPaused()) return
    void worker.pause(true)
    setTimeout(() => stopping.signal.aborted || worker.resume(), ms).unref()
  }
  const workers = (Object.keys(JOBS) as JobName[]).map((name) => {
    const work = async (job: Job, token?: string) => {
      const again = await runProcessor(processors, name, job, stopping.signal)
      if (!again) return
      if (again.preferOtherWorker) stepBack(worker, again.delayMs + YIELD_TO_OTHERS_MS)
      await job.moveToDelayed(Date.now() + again.delayMs, token)
      throw new DelayedError()
    }
    const row = JOBS[name]
    const lockMs = 'lockMs' in row ? row.lockMs : DEFAULT_LOCK_MS
    const worker = new Worker(name, work, {
      connection,
      prefix,
      concurrency: concurrency[name],
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      maxStalledCount: 10,
    })
    worker.on('error', onError)
    worker.on('completed', () => onOutcome(name, 'completed'))
    worker.on('failed', (job) => onOutcome(name, job?.finishedOn === undefined ? 'retried' : 'failed'))
    return worker
  })
  return {
    async close() {
      stopping.abort()
      await Promise.all(workers.map((worker) => worker.close()))
    },
  }
}

function runProcessor<Name extends JobName>(processors: JobProcessors, name: Name, job: Job, signal: AbortSignal) {
  const data = JOBS[name].data.parse(job.data) as JobData<Name> // by its own schema
  return processors[name](data, { last: isLastAttempt(job, name), signal })
}

function isLastAttempt(job: Job, name: JobName): boolean {
  return job.attemptsMade + 1 >= (job.opts.attempts ?? JOBS[name].attempts)
}
