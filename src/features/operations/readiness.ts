/**
 * Checks whether this process can work: Redis accepts writes, the engine is usable and the tasks are loaded. Missing workers do not count. Live
 * workers are counted by their heartbeats.
 */
import type { Readiness } from '@reasoning-gym-server/contract/overview'
import type { Redis } from 'ioredis'
import { type Engine, type EngineHealth, formatSandboxLayers } from '../../engine/engine.ts'
import { assertRedisHealthy, type WriteProbe } from '../../platform/redis/cluster.ts'
import { getConnectionIssue, PROBE_TIMEOUT_MS, withRedisTimeout } from '../../platform/redis/connect.ts'
import { listDurabilityIssues } from '../../platform/redis/durability.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { describeOutage, isRedisOutage } from '../../platform/redis/redis-errors.ts'
import { errorMessage } from '../../platform/throttled-log.ts'
import type { TasksFeature } from '../tasks/index.ts'

const HEARTBEAT_INTERVAL_MS = 3000
const HEARTBEAT_TTL_MS = 10_000

interface ReadinessDeps {
  engine: Engine
  tasks: Pick<TasksFeature, 'tasks' | 'loadRegistry'>
  redis: Redis
  keys: RedisKeys
  writeProbe: WriteProbe
  /** Number of replicas that REDIS_REPLICAS asks for. */
  replicas: number
}

export async function checkReadiness(deps: ReadinessDeps): Promise<Readiness> {
  const { engine, redis, keys, writeProbe, replicas } = deps
  const checks = Promise.all([
    countLiveWorkers(redis, keys),
    listDurabilityIssues(redis, replicas),
    assertRedisHealthy(redis).then(() => writeProbe.check()),
  ])
  const { redis: redisStatus, workers } = await withRedisTimeout(PROBE_TIMEOUT_MS, checks, redis).then(
    // a Redis that may lose data is reported, but the process is ready
    ([workers, issues]) => ({ redis: { ok: true, ...(issues.length > 0 && { detail: issues.join('; ') }) }, workers }),
    (error: unknown) => ({ redis: { ok: false, detail: explainRedisFailure(redis, error) }, workers: 0 }),
  )
  const health = checkEngine(deps)
  return {
    status: redisStatus.ok && health.ok ? 'ready' : 'not_ready',
    redis: redisStatus,
    engine: { ...health, layers: formatSandboxLayers(engine.sandboxLayers()) },
    workers: { ok: workers > 0, count: workers },
  }
}

/** The engine is ready once its tasks are loaded. Each check tries again where that has failed. */
function checkEngine({ engine, tasks }: ReadinessDeps): EngineHealth {
  const health = engine.health()
  if (!health.ok || tasks.tasks.isLoaded) return health
  void tasks.loadRegistry()
  return { ok: false, detail: 'the tasks are being loaded, and the ladders of custom tasks verified' }
}

/** The words of Redis itself stay, such as why it takes no writes; those of the driver do not. */
function explainRedisFailure(redis: Redis, error: unknown): string {
  const issue = getConnectionIssue(redis)
  if (issue !== undefined) return issue
  return isRedisOutage(error) ? describeOutage(redis) : errorMessage(error)
}

export async function countLiveWorkers(redis: Redis, keys: RedisKeys): Promise<number> {
  return redis.zcount(keys.key('workers'), redisNow() - HEARTBEAT_TTL_MS, '+inf')
}

/** Counts this process as a live worker until it is closed. */
export function startHeartbeat(redis: Redis, keys: RedisKeys, name: string): { close(): Promise<void> } {
  const sendHeartbeat = () => {
    const now = redisNow()
    redis
      .multi()
      .zadd(keys.key('workers'), now, name)
      .zremrangebyscore(keys.key('workers'), 0, now - HEARTBEAT_TTL_MS)
      .exec()
      .catch(() => {}) // the next heartbeat follows soon
  }
  sendHeartbeat()
  const timer = setInterval(sendHeartbeat, HEARTBEAT_INTERVAL_MS)
  return {
    async close() {
      clearInterval(timer)
      await redis.zrem(keys.key('workers'), name).catch(() => {})
    },
  }
}
