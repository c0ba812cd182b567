/** The state of the whole server at a moment, for the first page of the dashboard. */
import { z } from 'zod'
import { NumberByName, TextByName } from './common.ts'

const ComponentHealth = z
  .strictObject({
    ok: z.boolean().describe('Whether the component works.'),
    detail: z.string().optional().describe('What is wrong, if anything.'),
  })
  .meta({ id: 'ComponentHealth', description: 'Health of one component.' })

export const Readiness = z
  .strictObject({
    status: z.enum(['ready', 'not_ready']).describe('`ready` if all components work.'),
    redis: ComponentHealth.describe('Health of Redis.'),
    engine: ComponentHealth.extend({
      layers: TextByName.describe(
        'Sandbox layers around the Python workers, by name: `on`, or why the layer is not available.',
      ),
    }).describe('Health of the engine.'),
    workers: z
      .strictObject({
        ok: z.boolean().describe('Whether at least one worker runs.'),
        count: z.int().describe('Number of running workers.'),
      })
      .describe('Health of the workers.'),
  })
  .meta({ id: 'Readiness', description: 'Whether this process can serve requests, and the health of each component.' })
export type Readiness = z.infer<typeof Readiness>

export const Totals = z
  .strictObject({
    requests: z.number().describe('Number of HTTP requests.'),
    items_handed_out: z.number().describe('Number of items handed out.'),
    items_made: z.number().describe('Number of items made.'),
    rollouts: z.number().describe('Number of rollouts in groups that workers have completed.'),
    verdicts: z.number().describe('Number of verdicts in groups and from `POST /score`.'),
    unscored: z.number().describe('Number of these verdicts that are unscored.'),
  })
  .meta({ id: 'Totals', description: 'Counts over all processes.' })
export type Totals = z.infer<typeof Totals>

export const HourlyPoint = z
  .strictObject({
    at: z.string().describe('Time of the point, ISO 8601.'),
    queued: z.int().describe('Number of queued groups at that time.'),
    ...Totals.shape,
  })
  .meta({ id: 'HourlyPoint', description: 'The totals at one time.' })
export type HourlyPoint = z.infer<typeof HourlyPoint>

export const ProcessStatus = z
  .strictObject({
    process: z.string().describe('Host name and process ID.'),
    role: z.string().describe('Role of the process, such as `api` or `worker`.'),
    engine_up: z.boolean().describe('Whether the engine of the process is available.'),
    workers: NumberByName.describe('Number of live Python workers, by kind.'),
    resident_bytes: z.number().describe('Resident memory in bytes.'),
    event_loop_p99_s: z.number().describe('99th percentile of the event loop delay, in seconds.'),
  })
  .meta({ id: 'ProcessStatus', description: 'State of one process of the server.' })
export type ProcessStatus = z.infer<typeof ProcessStatus>

export const Overview = z
  .strictObject({
    at: z.string().describe('Time of the overview, ISO 8601.'),
    health: Readiness,
    totals: Totals.describe('Counts since the data in Redis began; eventually consistent.'),
    queues: z
      .array(
        z
          .strictObject({
            queue: z.string().describe('Name of the queue.'),
            waiting: z.int().describe('Number of waiting jobs.'),
            active: z.int().describe('Number of jobs in progress.'),
            delayed: z.int().describe('Number of jobs that wait for a retry.'),
            failed: z.int().describe('Number of failed jobs.'),
            oldest_s: z.number().describe('Age of the oldest unfinished job, in seconds.'),
          })
          .describe('State of one queue.'),
      )
      .describe('State of each queue.'),
    processes: z.array(ProcessStatus).describe('State of each process.'),
    history: z
      .array(HourlyPoint)
      .optional()
      .describe('Totals of the last hour, one point every ten seconds. Only on request.'),
  })
  .meta({ id: 'Overview', description: 'State of the whole server.' })
export type Overview = z.infer<typeof Overview>
