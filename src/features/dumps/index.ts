/** Dumps: JSONL files of scored groups, and a run's groups as training data. */
import type { Platform } from '../../platform/platform.ts'
import { consumeJob } from '../../platform/queue/job-definition.ts'
import type { BackgroundWork } from '../../platform/queue/schedules.ts'
import { retry } from '../../platform/retry.ts'
import type { ItemsFeature } from '../items/index.ts'
import type { GroupDumpWriter } from '../rollouts/completion-effects.ts'
import type { RolloutsFeature } from '../rollouts/index.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { DumpedRun, RunDumps } from '../runs/types.ts'
import { DumpFiles, startDumpFolderUpkeep } from './dump-files.ts'
import { DumpFolder } from './dump-folder.ts'
import { buildDumpedGroup } from './dump-record.ts'
import { Dumps, recountDumpBytesSchedule, sweepDumpsSchedule, writeDumpJob } from './dumps.ts'
import { Exports } from './exports.ts'
import { type DumpedRunRef, DumpRepository } from './repository.ts'

/**
 * Number of files that one worker writes concurrently. It is high, because a write waits for the disk and not for
 * Redis.
 */
const WRITE_CONCURRENCY = 16
/** Time limit for the final writes. It is part of the time in which a process has to exit. */
const FINAL_WRITE_TIMEOUT_MS = 8_000
const FINAL_WRITE_RETRY_MS = 250

interface DumpsFeatureDeps {
  items: ItemsFeature
  runs: RunsFeature
  rollouts: RolloutsFeature
}

export type DumpsFeature = ReturnType<typeof createDumps>

export function createDumps(platform: Platform, { items, runs, rollouts }: DumpsFeatureDeps) {
  const { config, log, redis, keys, producer, replication } = platform
  const repository = new DumpRepository(redis, keys)
  const folder = new DumpFolder(config.DATA_DIR)
  const files = new DumpFiles({ repository, folder, log })
  const dumps = new Dumps({
    repository,
    folder,
    producer,
    replication,
    log,
    maxBytes: config.DUMPS_MAX_BYTES,
    idleFlushMs: config.DUMP_IDLE_FLUSH_S * 1000,
  })
  return {
    dumps,
    files,
    exports: new Exports({ files, folder, runs: runs.runs, groups: rollouts.groups, items: items.items, log }),
    repository,
    /** Interface for runs. */
    runDumps: {
      getProgress: (run) => repository.readProgress(toRunRef(run)),
      flush: (run) => dumps.flush(toRunRef(run)),
    } satisfies RunDumps,
    /** Interface for the scoring of groups. */
    groupDumps: {
      prepareRecord: (graded, buildPrompt) =>
        dumps.prepareRecord(toRunRef(graded.run), graded.run.settings, graded.result, async () =>
          buildDumpedGroup(graded, await buildPrompt(), graded.run.settings.retry_prompt),
        ),
      handleAppendResults: (run, record, appended) => dumps.handleAppendResults(toRunRef(run), record, appended),
    } satisfies GroupDumpWriter,
    createWork: (): BackgroundWork => ({
      consumers: [consumeJob(writeDumpJob, WRITE_CONCURRENCY, (file) => dumps.writeFile(file))],
      scheduledTasks: [
        { ...sweepDumpsSchedule, run: () => dumps.sweep(async (run) => (await runs.repository.get(run))?.incarnation) },
        { ...recountDumpBytesSchedule, run: () => repository.recountBytes() },
      ],
      startLocalTimer: (onError) => startDumpFolderUpkeep(dumps, onError),
      close: () => writeAllPending(dumps),
    }),
  }
}

/** A signal to every process of the server also stops the private Redis, which `npm start` starts again within a second. */
function writeAllPending(dumps: Dumps): Promise<void> {
  const signal = AbortSignal.timeout(FINAL_WRITE_TIMEOUT_MS)
  const onError = (error: unknown) => {
    if (signal.aborted) throw error
  }
  return retry(() => dumps.writeAllPending(signal), { pauseMs: FINAL_WRITE_RETRY_MS, signal, onError })
}

function toRunRef({ name, incarnation }: DumpedRun): DumpedRunRef {
  return { run: name, uuid: incarnation }
}
