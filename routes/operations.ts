/** GET /livez, /readyz: for those who keep the server running. */
import { z } from 'zod'
import { spoken } from '../src/engine/layers.ts'
import { ANY_QUERY } from '../src/plugins/validation.ts'
import { durabilityGaps } from '../src/store/durability.ts'
import { assertAllUp } from '../src/store/nodes.ts'
import { answeredWithin, PROBE_MS } from '../src/store/redis.ts'
import { countWorkers } from '../src/store/workers.ts'
import { Readiness } from '../src/words/overview.ts'
import type { App, Services } from './context.ts'

/** As for redis_unavailable. */
const RETRY_S = 2

type Parts = Pick<Services, 'engine' | 'redis' | 'keys'>

/** Gaps in what Redis promises are told, but do not make the process unready. */
function redisPart(gaps: string[]): Readiness['redis'] {
  return gaps.length === 0 ? { ok: true } : { ok: true, detail: gaps.join('; ') }
}

/** Whether Redis and the engine can be used; missing workers do not count. */
export async function readiness({ engine, redis, keys }: Parts): Promise<Readiness> {
  const looked = Promise.all([countWorkers(redis, keys), durabilityGaps(redis), assertAllUp(redis)])
  const counted = await answeredWithin(PROBE_MS, looked).then(
    ([count, gaps]) => ({ redis: redisPart(gaps), count }),
    (error: Error) => ({ redis: { ok: false, detail: error.message }, count: 0 }),
  )
  return {
    status: counted.redis.ok && engine.health().ok ? 'ready' : 'not_ready',
    redis: counted.redis,
    engine: { ...engine.health(), layers: spoken(engine.layers()) },
    workers: { ok: counted.count > 0, count: counted.count },
  }
}

export function operations(app: App, parts: Parts): void {
  app.get(
    '/livez',
    {
      schema: {
        tags: ['operations'],
        summary: 'Answers while the process lives',
        querystring: ANY_QUERY,
        response: { 200: z.strictObject({ status: z.literal('alive') }) },
      },
    },
    () => ({ status: 'alive' as const }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        tags: ['operations'],
        summary: 'Whether Redis and the engine can be used; missing workers do not count',
        querystring: ANY_QUERY,
        response: { 200: Readiness, 503: Readiness },
      },
    },
    async (_request, reply) => {
      const answer = await readiness(parts)
      if (answer.status === 'ready') return answer
      return reply.status(503).header('retry-after', RETRY_S).send(answer)
    },
  )
}
