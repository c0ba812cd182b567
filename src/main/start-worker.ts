/** Processes jobs and runs the recurring work of all features until it is closed. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Closable } from '../platform/closers.ts'
import { startClockSkewCorrection } from '../platform/queue/clock-skew.ts'
import { startConsumers } from '../platform/queue/consumer.ts'
import { SCHEDULES_QUEUE, startSchedules } from '../platform/queue/schedules.ts'
import { type JobActivity, type JobWorkers, startWatchedWorkers } from '../platform/queue/stuck-workers.ts'
import { translateRedisError } from '../platform/redis/redis-errors.ts'
import { errorMessage, throttledLog } from '../platform/throttled-log.ts'
import { ALL_JOBS, type WorkerService } from './compose.ts'
import { restampStorageFormat } from './storage-checks.ts'

/** What BullMQ says when a busy worker loses the lock of a job, which another worker then repeats. */
const LOST_LOCK = /could not renew lock|lock mismatch|missing lock|job stalled/i

/** Of 15 s in which a process has to exit. A longer job is done again by another worker, and the last dumps are still written. */
const JOB_GRACE_MS = 6_000

export function startWorker({ platform, features }: WorkerService): Closable {
  const { config, keys, log, recorder } = platform
  const { runs, rollouts, rescores, evals, dumps, adapters, operations } = features
  const onError = throttledLog((err, suppressed, queue) => {
    const known = translateRedisError(err)
    const reason = errorMessage(known)
    const isOrdinary = known !== err || LOST_LOCK.test(reason) // its stack, inside a library, does not help
    log.warn(
      {
        ...(isOrdinary ? { reason } : { err }),
        ...(queue !== undefined && { queue }),
        ...(suppressed && { suppressed }),
      },
      'a worker reported an error',
    )
    if (isOrdinary) log.debug({ err }, 'stack of the error that a worker reported')
  })
  const works = [
    runs.createWork(),
    rollouts.createWork(dumps.groupDumps),
    rescores.createWork(),
    evals.createWork(),
    dumps.createWork(),
    adapters.createWork(),
    operations.createWork(),
  ]
  const restampFormat = {
    name: 'restamp-storage-format',
    everyMs: 10_000,
    run: () => restampStorageFormat(platform.redis, keys),
  }
  for (const { name } of ALL_JOBS) recorder.recordJobAttempt(name, 'failed', 0) // a counter that begins at 1 has no increase for the alert
  const startWorkers = (activity: JobActivity): JobWorkers => {
    const connection = platform.connectForWorkers()
    const options = { connection, prefix: keys.queuePrefix, onError, activity }
    const consumers = startConsumers(
      ALL_JOBS,
      works.flatMap((work) => work.consumers),
      {
        ...options,
        lockMs: config.JOB_LOCK_S * 1000,
        onOutcome: (queue, outcome) => recorder.recordJobAttempt(queue, outcome),
      },
    )
    const scheduledTasks = [restampFormat, ...works.flatMap((work) => work.scheduledTasks ?? [])]
    const schedules = startSchedules(scheduledTasks, options)
    const clockSkew = startClockSkewCorrection(ALL_JOBS, options)
    return {
      async close() {
        await Promise.all([schedules.close(), consumers.close(), clockSkew.close()])
        connection.disconnect()
      },
      abandon() {
        for (const workers of [schedules, consumers]) workers.abandon()
        void clockSkew.close().catch(() => {})
        connection.disconnect()
      },
    }
  }
  const workers = startWatchedWorkers({
    start: startWorkers,
    queues: [...ALL_JOBS.map(({ name }) => name), SCHEDULES_QUEUE],
    redis: platform.redis,
    prefix: keys.queuePrefix,
    onReplaced: (queue) =>
      log.warn({ queue }, 'jobs waited and were not taken; the workers of this process start again'),
  })
  const localTimers = works.flatMap((work) => work.startLocalTimer?.(onError) ?? [])
  const heartbeat = operations.startHeartbeat()
  return {
    async close() {
      // Redis may be gone for a moment: then what follows still closes, and the last dumps wait for it.
      const report = (error: unknown) => onError(error)
      for (const timer of localTimers) await Promise.resolve(timer.close()).catch(report)
      await Promise.race([workers.close().catch(report), sleep(JOB_GRACE_MS, undefined, { ref: false })])
      for (const work of works.toReversed()) await Promise.resolve(work.close?.()).catch(report)
      await heartbeat.close()
    },
  }
}
