/** Takes jobs of all queues and does the recurring work of all features, until it is closed. */
import type { Closable } from '../platform/closers.ts'
import { startConsumers } from '../platform/queue/consumer.ts'
import { translateRedisError } from '../platform/redis/redis-errors.ts'
import { errorMessage, throttledLog } from '../platform/throttled-log.ts'
import type { WorkerService } from './compose.ts'
import { ALL_JOBS } from './jobs.ts'

export function startWorker({ platform, features }: WorkerService, workerName: string): Closable {
  const { keys, log, recorder } = platform
  const { runs, rollouts, evals, dumps, operations } = features
  const onError = throttledLog((err, untold) => {
    const away = translateRedisError(err) !== err // then its stack says nothing
    log.warn(
      { ...(away ? { reason: errorMessage(err) } : { err }), ...(untold && { untold }) },
      'a worker met an error',
    )
  })
  const connection = platform.connectForWorkers()
  const works = [runs.createWork(), rollouts.createWork(dumps.groupDumps), evals.createWork(), dumps.createWork()]
  const consumers = startConsumers(
    ALL_JOBS,
    works.flatMap((work) => work.consumers),
    {
      connection,
      prefix: keys.queuePrefix,
      onError,
      onOutcome: (queue, outcome) => recorder.increment('rgs_jobs_total', { queue, outcome }),
    },
  )
  const sweepers = works.flatMap((work) => work.startSweeper?.(onError) ?? [])
  const heartbeat = operations.startHeartbeat(workerName)
  return {
    async close() {
      for (const sweeper of sweepers) await sweeper.close()
      await consumers.close()
      for (const work of works.toReversed()) await Promise.resolve(work.close?.()).catch(onError)
      await heartbeat.close()
      connection.disconnect()
    },
  }
}
