/**
 * Checks whether this process can work: Redis accepts writes and the engine is usable. Missing workers do not count.
 */

import type { Readiness } from '@reasoning-gym-server/contract/overview'
import type { Redis } from 'ioredis'
import type { Engine } from '../../engine/engine.ts'
import { formatSandboxLayers } from '../../engine/sandbox-layers.ts'
import { assertRedisHealthy } from '../../platform/redis/cluster.ts'
import { getConnectionIssue, PROBE_TIMEOUT_MS, withRedisTimeout } from '../../platform/redis/connect.ts'
import { listDurabilityIssues } from '../../platform/redis/durability.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { isRedisSilence } from '../../platform/redis/redis-errors.ts'
import { describeSilence } from '../../platform/redis/redis-silence.ts'
import type { WriteProbe } from '../../platform/redis/write-probe.ts'
import { errorMessage } from '../../platform/throttled-log.ts'
import { countLiveWorkers } from './worker-heartbeats.ts'

interface ReadinessDeps {
  engine: Engine
  redis: Redis
  keys: RedisKeys
  writeProbe: WriteProbe
  /** Number of replicas that REDIS_REPLICAS asks for. */
  replicas: number
}

export async function checkReadiness({ engine, redis, keys, writeProbe, replicas }: ReadinessDeps): Promise<Readiness> {
  const checks = Promise.all([
    countLiveWorkers(redis, keys),
    listDurabilityIssues(redis, replicas),
    assertRedisHealthy(redis).then(() => writeProbe.check()),
  ])
  const { redis: redisStatus, workers } = await withRedisTimeout(PROBE_TIMEOUT_MS, checks, redis).then(
    ([workers, issues]) => ({ redis: buildRedisStatus(issues), workers }),
    (error: unknown) => ({ redis: { ok: false, detail: explainRedisFailure(redis, error) }, workers: 0 }),
  )
  return {
    status: redisStatus.ok && engine.health().ok ? 'ready' : 'not_ready',
    redis: redisStatus,
    engine: { ...engine.health(), layers: formatSandboxLayers(engine.sandboxLayers()) },
    workers: { ok: workers > 0, count: workers },
  }
}

/** The words of Redis itself stay, such as why it takes no writes; those of the driver do not. */
function explainRedisFailure(redis: Redis, error: unknown): string {
  const issue = getConnectionIssue(redis)
  if (issue !== undefined) return issue
  return isRedisSilence(error) ? describeSilence(redis) : errorMessage(error)
}

/** A Redis that may lose data is reported, but the process is ready. */
function buildRedisStatus(issues: string[]): Readiness['redis'] {
  return issues.length === 0 ? { ok: true } : { ok: true, detail: issues.join('; ') }
}
