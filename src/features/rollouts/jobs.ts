/** The job and schedules of rollouts, and the sweep that queues lost jobs again. */
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Engine } from '../../engine/engine.ts'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import type { Producer } from '../../platform/queue/queues.ts'
import type { Schedule } from '../../platform/queue/schedules.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { RunRepository } from '../runs/repository.ts'
import type { RunIndex } from '../runs/run-index.ts'
import { sweepEach } from '../runs/sweep-each.ts'
import { formatScoreJobId } from './records.ts'
import type { GroupRepository } from './repository.ts'

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

const LOST_JOB_AGE_MS = 15_000
const MAX_GROUPS_PER_RUN = 1000

interface RequeueGroupsDeps {
  index: Pick<RunIndex, 'listToSweep'>
  runs: RunRepository
  groups: GroupRepository
  producer: Producer
  engine: Pick<Engine, 'health'>
  log: Logger
}

/**
 * Adds jobs again for groups that stay pending because a job was lost or could not be added when the group was
 * accepted. A job's ID contains the time, so that an earlier failure of the same group does not suppress the
 * job; scoring twice is harmless. Without the engine, nothing is added: the groups wait for it, and each sweep would
 * add one more job for them.
 */
export async function requeueLostGroups(
  { index, runs, groups, producer, engine, log }: RequeueGroupsDeps,
  ageMs = LOST_JOB_AGE_MS,
): Promise<number> {
  if (!engine.health().ok) return 0
  let requeued = 0
  const round = Math.floor(redisNow() / ageMs)
  await sweepEach(log, await index.listToSweep(), async (name) => {
    const run = await runs.get(name)
    if (!run) return
    const { epoch } = run
    const ids = await groups.listPendingAcceptedBefore(name, epoch, redisNow() - ageMs, MAX_GROUPS_PER_RUN)
    if (ids.length === 0) return
    await producer.add(
      scoreGroupJob,
      ids.map((group) => ({
        id: `${formatScoreJobId({ run: name, epoch, group })}~${round}`,
        data: { run: name, epoch, group },
      })),
    )
    requeued += ids.length
  })
  return requeued
}
