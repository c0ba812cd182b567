/**
 * Closes idle groups, confirms the samples of dead processes and submits closed groups that a process did not submit.
 * Repeated or concurrent sweeps are harmless.
 */

import type { Schedule } from '../../../platform/queue/schedules.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import type { RunRepository } from '../../runs/repository.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { ClosedGroupSubmission } from './closed-group-submission.ts'
import type { OpenGroupRepository } from './repository.ts'

/** Closes idle groups and finishes the work of processes that were killed. */
export const sweepOpenGroupsSchedule: Schedule = { name: 'sweep-open-groups', everyMs: 5_000 }

/** Longer than any response takes after its samples are recorded, which is the last step before it is sent. */
const ABANDONED_AFTER_MS = 60_000
/** Age at which the sweep submits a closed group. The process that closes a group normally submits it at once. */
const LEFT_AFTER_MS = 3000
const MAX_GROUPS_PER_RUN = 1000

interface SweepOpenGroupsDeps {
  runs: Pick<Runs, 'get'>
  runNames: Pick<RunRepository, 'listNames'>
  repository: OpenGroupRepository
  submission: ClosedGroupSubmission
}

export interface SweepAges {
  abandonedMs: number
  leftMs: number
}

export async function sweepOpenGroups(
  deps: SweepOpenGroupsDeps,
  ages: SweepAges = { abandonedMs: ABANDONED_AFTER_MS, leftMs: LEFT_AFTER_MS },
): Promise<void> {
  for (const name of await deps.runNames.listNames()) {
    const run = await deps.runs.get(name)
    if (run) await sweepRun(deps, run, ages)
  }
}

async function sweepRun(
  { repository, submission }: SweepOpenGroupsDeps,
  run: ResolvedRun,
  { abandonedMs, leftMs }: SweepAges,
): Promise<void> {
  const closed = await repository.confirm(run, { delivered: [], undelivered: [], sweep: { abandonedMs } })
  const left = await repository.listClosed(run, redisNow() - leftMs, MAX_GROUPS_PER_RUN)
  // the settings changed: the next sweep reads the new ones
  const ids = new Set([...left, ...(closed === 'run_changed' ? [] : closed)])
  await submission.submitAll(run, [...ids])
}
