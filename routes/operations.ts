/** GET /livez, /readyz: for those who keep the server running. */
import { z } from 'zod'
import { spoken } from '../src/engine/layers.ts'
import { durabilityGaps } from '../src/store/durability.ts'
import { assertAllUp } from '../src/store/nodes.ts'
import { countWorkers } from '../src/store/workers.ts'
import type { App, Services } from './context.ts'

const Part = z.strictObject({ ok: z.boolean(), detail: z.string().optional() })
const Readiness = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  redis: Part,
  engine: Part.extend({
    layers: z.record(z.string(), z.string()).describe('What keeps a host from the machine: `on`, or what refused it'),
  }),
  workers: z.strictObject({ ok: z.boolean(), count: z.int() }),
})

/** Gaps in what Redis promises are told, but do not make the process unready. */
function redisPart(gaps: string[]): z.infer<typeof Part> {
  return gaps.length === 0 ? { ok: true } : { ok: true, detail: gaps.join('; ') }
}

export function operations(app: App, { engine, redis, keys }: Services): void {
  app.get(
    '/livez',
    {
      schema: {
        tags: ['operations'],
        summary: 'Answers while the process lives',
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
        response: { 200: Readiness, 503: Readiness },
      },
    },
    async (_request, reply) => {
      const counted = await Promise.all([countWorkers(redis, keys), assertAllUp(redis)]).then(
        async ([count]) => ({ redis: redisPart(await durabilityGaps(redis)), count }),
        (error: Error) => ({ redis: { ok: false, detail: error.message }, count: 0 }),
      )
      const ready = counted.redis.ok && engine.health().ok
      return reply.status(ready ? 200 : 503).send({
        status: ready ? ('ready' as const) : ('not_ready' as const),
        redis: counted.redis,
        engine: { ...engine.health(), layers: spoken(engine.layers()) },
        workers: { ok: counted.count > 0, count: counted.count },
      })
    },
  )
}
