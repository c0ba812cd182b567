/** The server as a whole, at a moment: what the dashboard's first page shows. */
import { z } from 'zod'

const ComponentHealth = z
  .strictObject({ ok: z.boolean(), detail: z.string().optional() })
  .meta({ id: 'ComponentHealth' })

export const Readiness = z
  .strictObject({
    status: z.enum(['ready', 'not_ready']),
    redis: ComponentHealth,
    engine: ComponentHealth.extend({
      layers: z.record(z.string(), z.string()).describe('What keeps a host from the machine: `on`, or what refused it'),
    }),
    workers: z.strictObject({ ok: z.boolean(), count: z.int() }),
  })
  .meta({ id: 'Readiness' })
export type Readiness = z.infer<typeof Readiness>

const totalsFields = {
  requests: z.number(),
  items_handed_out: z.number(),
  items_made: z.number(),
  rollouts: z.number().describe('Of groups that workers have done'),
  verdicts: z.number().describe('Of groups and of POST /score'),
  unscored: z.number(),
}

export const Overview = z
  .strictObject({
    at: z.string().describe('ISO 8601'),
    health: Readiness,
    totals: z.strictObject(totalsFields).describe('Since the Redis began; eventually right'),
    queues: z.array(
      z.strictObject({
        queue: z.string(),
        waiting: z.int(),
        active: z.int(),
        delayed: z.int(),
        failed: z.int(),
        oldest_s: z.number().describe('Age of the oldest job that is not done'),
      }),
    ),
    processes: z.array(
      z.strictObject({
        process: z.string(),
        role: z.string(),
        engine_up: z.boolean(),
        hosts: z.record(z.string(), z.number()).describe('Python hosts alive, by kind'),
        resident_bytes: z.number(),
        event_loop_p99_s: z.number(),
      }),
    ),
    history: z
      .array(z.strictObject({ at: z.string(), queued: z.int(), ...totalsFields }))
      .optional()
      .describe('The totals of the last hour, a point every ten seconds'),
  })
  .meta({ id: 'Overview' })
export type Overview = z.infer<typeof Overview>
