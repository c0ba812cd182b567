/**
 * Closes groups to which nothing was added for long, settles the samples of dead processes and submits closed groups that a
 * process left. Running it twice, or at once, is harmless.
 */
import { fleetNow } from '../../../../platform/redis/fleet-clock.ts'
import type { RunRepository } from '../../../runs/repository.ts'
import type { ResolvedRun } from '../../../runs/resolved-run.ts'
import type { Runs } from '../../../runs/runs.ts'
import type { ClosedGroupSubmission } from '../closed-group-submission.ts'
import type { OpenGroupRepository } from '../repository.ts'

/** Longer than any answer takes from the moment when its sample is noted, the last thing before it leaves. */
const ABANDONED_AFTER_MS = 60_000
/** The process that closed a group submits it at once. */
const LEFT_AFTER_MS = 3000
const MAX_GROUPS_PER_RUN = 1000

export interface SweepOpenGroupsDeps {
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
  const closed = await repository.settle(run, { delivered: [], undelivered: [], sweep: { abandonedMs } })
  const left = await repository.listClosed(run, fleetNow() - leftMs, MAX_GROUPS_PER_RUN)
  const ids = new Set([...left, ...(closed === 'run_changed' ? [] : closed)]) // changed: the next sweep has the new settings
  await submission.submitAll(run, [...ids])
}
