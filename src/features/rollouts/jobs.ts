/** The job and schedules of rollouts, how groups are put into jobs, and the sweep that queues lost jobs again. */

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Engine } from '../../engine/engine.ts'
import { batchCalls } from '../../platform/batch-calls.ts'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import type { Producer } from '../../platform/queue/queues.ts'
import type { Schedule } from '../../platform/queue/schedules.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { splitList } from '../../platform/split-list.ts'
import type { RunRepository } from '../runs/repository.ts'
import { type RunIndex, sweepEach } from '../runs/run-index.ts'
import { formatScoreJobId } from './records.ts'
import type { GroupRepository } from './repository.ts'

const JobGroup = z.strictObject({
  run: z.string(),
  epoch: z.int(),
  group: z.string(),
  request: z.string().optional().describe('ID of the request that posted the group, for the log'),
  traceparent: z.string().optional().describe('W3C trace context of the request, while requests are traced'),
  text_bytes: z.int().optional().describe('Size of its unpacked texts'),
})
export type JobGroup = z.infer<typeof JobGroup>
const ScoreGroupJobData = JobGroup.extend({
  more: z
    .array(JobGroup)
    .optional()
    .describe('More groups of the run, each of which gets a job of its own if it fails'),
})
export type ScoreGroupJobData = z.infer<typeof ScoreGroupJobData>

/**
 * Reads, scores and completes posted groups: one, or several that were posted at about the same time. Waiting for the engine does
 * not count as an attempt.
 */
export const scoreGroupJob: JobDefinition<ScoreGroupJobData> = {
  name: 'score-group',
  data: ScoreGroupJobData,
  attempts: 6,
  backoffMs: 500,
}

/** A job is scored by one process, so this limits how unevenly work spreads over the workers. */
const MAX_GROUPS_PER_JOB = 8
const MAX_JOBS_PER_CALL = 8

export type EnqueueGroup = (group: JobGroup & { canShare: boolean }) => Promise<void>

/** The returned function adds the job of a group. Groups that come while others are added share jobs if they `canShare`. */
export function createGroupQueue(producer: Pick<Producer, 'add'>): EnqueueGroup {
  const add = batchCalls(
    async (groups: JobGroup[]) => {
      await producer.add(scoreGroupJob, splitList(groups, MAX_GROUPS_PER_JOB).flatMap(buildJob))
      return groups.map(() => undefined)
    },
    { keyOf: ({ run, epoch }) => `${run}/${epoch}`, maxCalls: MAX_GROUPS_PER_JOB * MAX_JOBS_PER_CALL },
  )
  return async ({ canShare, ...group }) => {
    if (canShare) await add(group)
    else await addOwnJobs(producer, [group])
  }
}

/** A group that already has a job of its own in the queue gets no other. */
export async function addOwnJobs(producer: Pick<Producer, 'add'>, groups: JobGroup[]): Promise<void> {
  await producer.add(
    scoreGroupJob,
    groups.map((data) => ({ id: formatScoreJobId(data), data })),
  )
}

function buildJob([first, ...more]: JobGroup[]): { id: string; data: ScoreGroupJobData }[] {
  if (!first) return []
  const id = formatScoreJobId(first)
  return [more.length === 0 ? { id, data: first } : { id: `${id}~${randomUUID()}`, data: { ...first, more } }]
}

export function listJobGroups({ more = [], ...first }: ScoreGroupJobData): JobGroup[] {
  return [first, ...more]
}

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
