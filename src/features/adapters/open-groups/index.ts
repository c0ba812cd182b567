/** Open groups: sample scoring adds to them, and the workers sweep them. */
import type { Platform } from '../../../platform/platform.ts'
import type { BackgroundWork } from '../../../platform/queue/schedules.ts'
import { throttledLog } from '../../../platform/throttled-log.ts'
import type { RolloutsFeature } from '../../rollouts/index.ts'
import type { RunsFeature } from '../../runs/index.ts'
import { ClosedGroupSubmission, type SweepAges, sweepOpenGroups, sweepOpenGroupsSchedule } from './closed-groups.ts'
import { GroupAssembler } from './group-assembler.ts'
import { createOpenGroupKeys, OPEN_GROUP_LIMITS, OpenGroupRepository } from './repository.ts'
import { SampleWriter } from './sample-writer.ts'

/** Share of BUFFER_MAX_BYTES that the open groups of one run may use. */
const BUFFER_SHARE = 0.5

export function createOpenGroups(
  { redis, keys, recorder, log, config }: Platform,
  { runs, rollouts }: { runs: RunsFeature; rollouts: RolloutsFeature },
) {
  const bytes = Math.min(OPEN_GROUP_LIMITS.bytes, config.BUFFER_MAX_BYTES * BUFFER_SHARE)
  runs.epochKeyListers.push(createOpenGroupKeys(keys).listEpochKeys)
  const repository = new OpenGroupRepository(redis, keys, { ...OPEN_GROUP_LIMITS, bytes })
  const submission = new ClosedGroupSubmission({ repository, submission: rollouts.submission, recorder, log })
  const writer = new SampleWriter({
    repository,
    runs: runs.runs,
    onClosed: (run, ids) => void submission.submitAll(run, ids),
    onError: throttledLog((err) => log.warn({ err }, 'samples could not be counted yet; the server retries')),
  })
  const sweep = (ages?: SweepAges) =>
    sweepOpenGroups({ runs: runs.runs, index: runs.index, repository, submission, log }, ages)
  return {
    assembler: new GroupAssembler({ repository, writer, recorder }),
    sweep,
    createWork: (): BackgroundWork => ({
      consumers: [],
      scheduledTasks: [{ ...sweepOpenGroupsSchedule, run: () => sweep() }],
    }),
    async close() {
      await writer.close()
      await submission.close()
    },
  }
}
