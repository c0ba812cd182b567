/** The jobs and schedules of rollouts. */
import { z } from 'zod'
import type { JobDefinition } from '../../../platform/queue/job-definition.ts'
import type { Schedule } from '../../../platform/queue/schedules.ts'

const ScoreGroupJobData = z.strictObject({
  run: z.string(),
  epoch: z.int(),
  group: z.string(),
  request: z.string().optional().describe('ID of the request that posted the group, for the log'),
  text_bytes: z.int().optional().describe('Size of its unpacked texts'),
})
export type ScoreGroupJobData = z.infer<typeof ScoreGroupJobData>

/** Reads, scores and completes a posted group. Waiting for the engine does not count as an attempt. */
export const scoreGroupJob: JobDefinition<ScoreGroupJobData> = {
  name: 'score-group',
  data: ScoreGroupJobData,
  attempts: 6,
  backoffMs: 500,
}

/** Deletes payloads that a process has released but not deleted. */
export const releasePayloadsSchedule: Schedule = { name: 'release-payloads', everyMs: 30_000 }
/** Adds lost jobs of groups again. */
export const requeueGroupsSchedule: Schedule = { name: 'requeue-groups', everyMs: 5_000 }
