/** GET /livez, /readyz: for those who keep the server running. */
import { z } from 'zod'
import { Readiness } from '../src/contract/overview.ts'
import { formatSandboxLayers } from '../src/engine/sandbox-layers.ts'
import { countLiveWorkers } from '../src/features/operations/worker-heartbeats.ts'
import type { App } from '../src/http/app.ts'
import { AnyQuery } from '../src/http/validation.ts'
import { assertRedisHealthy } from '../src/platform/redis/cluster.ts'
import { PROBE_TIMEOUT_MS, withRedisTimeout } from '../src/platform/redis/connect.ts'
import { listDurabilityIssues } from '../src/platform/redis/durability.ts'
import type { Services } from './context.ts'

/** As for redis_unavailable. */
const NOT_READY_RETRY_AFTER_S = 2

type OperationsDeps = Pick<Services, 'engine' | 'redis' | 'redisKeys'>

/** Gaps in what Redis promises are told, but do not make the process unready. */
function buildRedisStatus(gaps: string[]): Readiness['redis'] {
  return gaps.length === 0 ? { ok: true } : { ok: true, detail: gaps.join('; ') }
}

/** Whether Redis and the engine can be used; missing workers do not count. */
export async function checkReadiness({ engine, redis, redisKeys: keys }: OperationsDeps): Promise<Readiness> {
  const looked = Promise.all([countLiveWorkers(redis, keys), listDurabilityIssues(redis), assertRedisHealthy(redis)])
  const counted = await withRedisTimeout(PROBE_TIMEOUT_MS, looked).then(
    ([count, gaps]) => ({ redis: buildRedisStatus(gaps), count }),
    (error: Error) => ({ redis: { ok: false, detail: error.message }, count: 0 }),
  )
  return {
    status: counted.redis.ok && engine.health().ok ? 'ready' : 'not_ready',
    redis: counted.redis,
    engine: { ...engine.health(), layers: formatSandboxLayers(engine.sandboxLayers()) },
    workers: { ok: counted.count > 0, count: counted.count },
  }
}

export function addOperationRoutes(app: App, parts: OperationsDeps): void {
  app.get(
    '/livez',
    {
      schema: {
        operationId: 'checkLiveness',
        tags: ['operations'],
        summary: 'Answers while the process lives',
        querystring: AnyQuery,
        response: { 200: z.strictObject({ status: z.literal('alive') }) },
      },
    },
    () => ({ status: 'alive' as const }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'checkReadiness',
        tags: ['operations'],
        summary: 'Whether Redis and the engine can be used; missing workers do not count',
        querystring: AnyQuery,
        response: { 200: Readiness, 503: Readiness },
      },
    },
    async (_request, reply) => {
      const answer = await checkReadiness(parts)
      if (answer.status === 'ready') return answer
      return reply.status(503).header('retry-after', NOT_READY_RETRY_AFTER_S).send(answer)
    },
  )
}
