/** Dumps: JSONL files of scored groups, and a run's groups as training data. */
import type { Platform } from '../../platform/platform.ts'
import type { BackgroundWork } from '../../platform/queue/background-work.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { GroupDumps } from '../rollouts/group-dumps.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { DumpedRun, RunDumps } from '../runs/types.ts'
import { DumpFolder } from './dump-folder.ts'
import { buildDumpedGroup } from './dump-record.ts'
import { Dumps } from './dumps.ts'
import { Exports } from './exports/exports.ts'
import { recountDumpBytesSchedule, sweepDumpsSchedule, writeDumpJob } from './jobs/definitions.ts'
import { startDumpFolderUpkeep } from './jobs/dump-folder-upkeep.ts'
import { sweepDumps } from './jobs/sweep-dumps.ts'
import { createWriteDumpProcessor } from './jobs/write-dump.ts'
import { type DumpedRunRef, DumpRepository } from './repository.ts'

/**
 * Number of files that one worker writes concurrently. It is high, because a write waits for the disk and not for
 * Redis.
 */
const WRITE_CONCURRENCY = 16
/** Time limit for the final writes. It is part of the time in which a process has to exit. */
const FINAL_WRITE_TIMEOUT_MS = 8_000

interface DumpsFeatureDeps {
  items: ItemsFeature
  runs: RunsFeature
  rollouts: RolloutsFeature
}

export interface DumpsFeature {
  dumps: Dumps
  exports: Exports
  repository: DumpRepository
  /** Interface for runs. */
  runDumps: RunDumps
  /** Interface for the scoring of groups. */
  groupDumps: GroupDumps
  createWork(): BackgroundWork
}

export function createDumps(platform: Platform, { items, runs, rollouts }: DumpsFeatureDeps): DumpsFeature {
  const { config, log, redis, keys, producer, replication } = platform
  const repository = new DumpRepository(redis, keys)
  const dumps = new Dumps({
    repository,
    folder: new DumpFolder(config.DATA_DIR),
    producer,
    replication,
    log,
    maxBytes: config.DUMPS_MAX_BYTES,
    idleFlushMs: config.DUMP_IDLE_FLUSH_S * 1000,
  })
  return {
    dumps,
    exports: new Exports({ dumps, runs: runs.runs, groups: rollouts.groups, items: items.items }),
    repository,
    runDumps: {
      getProgress: (run) => repository.readProgress(toRunRef(run)),
      flush: (run) => dumps.flush(toRunRef(run)),
    },
    groupDumps: {
      prepareRecord: (run, result, loadGroup) =>
        dumps.prepareRecord(toRunRef(run), run.settings, result, async () => buildDumpedGroup(await loadGroup())),
      handleAppendResults: (run, record, appended) => dumps.handleAppendResults(toRunRef(run), record, appended),
    },
    createWork: () => ({
      consumers: [consumeJob(writeDumpJob, WRITE_CONCURRENCY, createWriteDumpProcessor({ dumps }))],
      scheduledTasks: [
        { ...sweepDumpsSchedule, run: () => sweepDumps({ dumps, runs: runs.repository }) },
        { ...recountDumpBytesSchedule, run: () => repository.recountBytes() },
      ],
      startLocalTimer: (onError) => startDumpFolderUpkeep(dumps, onError),
      close: () => dumps.writeAllPending(AbortSignal.timeout(FINAL_WRITE_TIMEOUT_MS)),
    }),
  }
}

function toRunRef({ name, incarnation }: DumpedRun): DumpedRunRef {
  return { run: name, uuid: incarnation }
}
