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

/** Sums over all processes. */
export const Totals = z
  .strictObject({
    requests: z.number(),
    items_handed_out: z.number(),
    items_made: z.number(),
    rollouts: z.number().describe('Rollouts of groups that workers have completed'),
    verdicts: z.number().describe('Verdicts of groups and of `POST /score`'),
    unscored: z.number(),
  })
  .meta({ id: 'Totals' })
export type Totals = z.infer<typeof Totals>

export const HourlyPoint = z
  .strictObject({ at: z.string().describe('ISO 8601'), queued: z.int(), ...Totals.shape })
  .meta({ id: 'HourlyPoint' })
export type HourlyPoint = z.infer<typeof HourlyPoint>

export const ProcessStatus = z
  .strictObject({
    process: z.string().describe('Host name and process ID'),
    role: z.string(),
    engine_up: z.boolean(),
    hosts: z.record(z.string(), z.number()).describe('Live Python workers by kind'),
    resident_bytes: z.number(),
    event_loop_p99_s: z.number(),
  })
  .meta({ id: 'ProcessStatus' })
export type ProcessStatus = z.infer<typeof ProcessStatus>

export const Overview = z
  .strictObject({
    at: z.string().describe('ISO 8601'),
    health: Readiness,
    totals: Totals.describe('Totals since the Redis was created; eventually consistent'),
    queues: z.array(
      z.strictObject({
        queue: z.string(),
        waiting: z.int(),
        active: z.int(),
        delayed: z.int(),
        failed: z.int(),
        oldest_s: z.number().describe('Age of the oldest unfinished job'),
      }),
    ),
    processes: z.array(ProcessStatus),
    history: z.array(HourlyPoint).optional().describe('The totals of the last hour, a point every ten seconds'),
  })
  .meta({ id: 'Overview' })
export type Overview = z.infer<typeof Overview>
