/** The platform that every feature builds on: configuration, log, Redis, queues and metrics of this process. */
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { Closers } from './closers.ts'
import type { ServerConfig } from './environment.ts'
import { MetricsRecorder } from './metrics/metrics-recorder.ts'
import { createProcessIdentity, type ProcessIdentity, type ProcessRole } from './process-state.ts'
import { Producer } from './queue/queues.ts'
import { connectForProbe, connectForRequests, connectForWorkers, type RedisConfig } from './redis/connect.ts'
import { listDurabilityIssues } from './redis/durability.ts'
import { Idempotency } from './redis/idempotency.ts'
import { createRedisKeys, type RedisKeys } from './redis/keys.ts'
import { Notifications } from './redis/notifications.ts'
import { startRedisClock } from './redis/redis-clock.ts'
import { NO_REPLICATION, Replication, type WriteConfirmation } from './redis/replication.ts'
import { logUnreadable } from './redis/unreadable-entries.ts'
import { NO_TRACING, type Tracing } from './telemetry/tracing.ts'
import { throttledLog } from './throttled-log.ts'
import { TransferSlots } from './transfer-slots.ts'

export interface Platform {
  config: ServerConfig
  log: Logger
  /** For requests: a command fails immediately while Redis is unavailable. */
  redis: Redis
  keys: RedisKeys
  /** Confirms that writes are on the replicas of Redis. */
  replication: WriteConfirmation
  producer: Producer
  notifications: Notifications
  idempotency: Idempotency
  identity: ProcessIdentity
  recorder: MetricsRecorder
  tracing: Tracing
  transfers: Transfers
  /** Opens another connection, for a worker: it waits until Redis is available. The caller closes it. */
  connectForWorkers(): Redis
  close(): Promise<void>
}

export function createPlatform(
  config: ServerConfig,
  redisConfig: RedisConfig,
  log: Logger,
  role: ProcessRole,
  tracing = NO_TRACING,
): Platform {
  const closers = new Closers()
  const keys = createRedisKeys(redisConfig.prefix)
  const redis = connectForRequests(redisConfig)
  closers.add({ close: () => redis.disconnect() })
  closers.add(startRedisClock(redis))
  logUnreadable(redis, log)
  const replication =
    config.REDIS_REPLICAS === 0
      ? NO_REPLICATION
      : closers.add(new Replication(redis, connectForProbe(redisConfig), keys, config.REDIS_REPLICAS))
  redis.once('ready', () => {
    void listDurabilityIssues(redis, config.REDIS_REPLICAS).then((issues) => {
      for (const issue of issues) log.warn(issue)
    })
  })
  const producer = closers.add(new Producer(redis, keys.queuePrefix))
  const notifications = closers.add(new Notifications(() => connectForWorkers(redisConfig), keys))
  const identity = createProcessIdentity(role)
  const recorder = new MetricsRecorder(identity)
  return {
    config,
    log,
    redis,
    keys,
    replication,
    producer,
    notifications,
    idempotency: new Idempotency(redis, keys, notifications),
    identity,
    recorder,
    tracing,
    transfers: closers.add(createTransfers(config, log, recorder)),
    connectForWorkers: () => connectForWorkers(redisConfig),
    close: () => closers.close(),
  }
}

/** Ratio of the wait for a slot to the time that a slow client gets. */
const WAIT_FACTOR = 3

/** Limits how many large bodies and replies are in the memory of this process. */
export interface Transfers {
  bodies: TransferSlots
  replies: TransferSlots
  close(): void
}

function createTransfers(
  config: Pick<ServerConfig, 'LARGE_BODIES' | 'LARGE_REPLIES' | 'SLOW_CLIENT_S'>,
  log: Logger,
  { slowClients }: Pick<MetricsRecorder, 'slowClients'>,
): Transfers {
  const slowMs = config.SLOW_CLIENT_S * 1000
  const warn = throttledLog((what, suppressed) => log.warn({ suppressed }, String(what)))
  const create = (setting: 'LARGE_BODIES' | 'LARGE_REPLIES', direction: 'in' | 'out', what: string) => {
    const onSlow = () => {
      slowClients.inc({ direction })
      warn(what)
    }
    return new TransferSlots({ slots: config[setting], waitMs: WAIT_FACTOR * slowMs, slowMs, setting, onSlow })
  }
  const bodies = create('LARGE_BODIES', 'in', 'Dropped a client that sent its body too slowly, while others waited')
  const replies = create('LARGE_REPLIES', 'out', 'Dropped a client that read its reply too slowly, while others waited')
  const close = () => {
    bodies.close()
    replies.close()
  }
  return { bodies, replies, close }
}
