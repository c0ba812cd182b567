/**
 * A run's dumps, from the scored group to the file.
 *
 *   prepared  the worker that scored a group builds its line and reserves bytes for it
 *   waiting   the completion script appends it to the run's records, or counts a rejection
 *   sealed    100 groups (or 50 failed ones), or fewer after an idle time, are fixed under the file's number: the
 *             rotation of files (scripts/seal-dump-file.lua)
 *   written   every attempt writes the same bytes under the same name; the first to report it deletes the records
 *
 * Each step is one script in the run's slot. A process that dies between two of them leaves work for the sweeper.
 */
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { DumpKind, formatDumpFileName } from '@reasoning-gym-server/contract/dump'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { GroupResult } from '../../grading/group-advantages.ts'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import type { Producer } from '../../platform/queue/queues.ts'
import type { Schedule } from '../../platform/queue/schedules.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { WriteConfirmation } from '../../platform/redis/replication.ts'
import { throttledLog } from '../../platform/throttled-log.ts'
import type { DumpRecordInput } from '../rollouts/completion-repository.ts'
import { sweepEach } from '../runs/run-index.ts'
import type { DumpFolder, OnWriteStep } from './dump-folder.ts'
import { type DumpedGroup, type DumpRules, encodeDumpLine, selectDumpKinds } from './dump-record.ts'
import {
  type DumpedRunRef,
  type DumpRepository,
  GROUPS_PER_FILE,
  type SealedFile,
  type WrittenFile,
} from './repository.ts'

const WriteDumpJobData = z.strictObject({ run: z.string(), uuid: z.string(), kind: DumpKind, number: z.int() })

/** Writes a sealed dump file, any number of times and on any machine. The sweep adds the job again until the file is written. */
export const writeDumpJob: JobDefinition<z.infer<typeof WriteDumpJobData>> = {
  name: 'write-dump',
  data: WriteDumpJobData,
  attempts: 6,
  backoffMs: 500,
  discardFailures: true,
}

/** Seals the files that are due and adds lost jobs of files again. */
export const sweepDumpsSchedule: Schedule = { name: 'sweep-dumps', everyMs: 5_000 }

/** Recounts the reserved bytes, because a worker that is killed leaves a reservation behind. */
export const recountDumpBytesSchedule: Schedule = { name: 'recount-dump-bytes', everyMs: 60_000 }

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Number of groups between two lines of progress in the log. */
const GROUPS_PER_PROGRESS_LOG = 10
/** Time after which the job of a sealed file counts as lost. */
const LOST_JOB_TIMEOUT_MS = 15_000
/** Time without new records after which the sweeper skips a run until the run gets a record. */
const INACTIVE_RUN_MS = 60 * 60 * 1000
/** Interval between two warnings of rejected groups. */
const REJECTION_WARNING_INTERVAL_MS = 60_000
const NO_TIME_LIMIT = Number.MAX_SAFE_INTEGER
const FULL_FILES_ONLY = 0

interface DumpsDeps {
  repository: DumpRepository
  folder: DumpFolder
  producer: Producer
  replication: WriteConfirmation
  log: Logger
  maxBytes: number
  idleFlushMs: number
}

/** What the completion script did with the record of each kind: the number that wait now, or a rejection. */
type DumpAppendResult = number | 'rejected'

export class Dumps {
  readonly folder: DumpFolder
  readonly repository: DumpRepository
  readonly #deps: DumpsDeps
  /** The first at once, then their number once a minute for each run and reason. */
  readonly #logRejection: (sentence: unknown, run: string) => void

  constructor(deps: DumpsDeps) {
    this.#deps = deps
    this.folder = deps.folder
    this.repository = deps.repository
    this.#logRejection = throttledLog(
      (sentence, suppressed, run) => deps.log.warn({ run, rejected_groups: suppressed + 1 }, String(sentence)),
      REJECTION_WARNING_INTERVAL_MS,
    )
  }

  /**
   * Prepares the record of a group for the completion script. Returns undefined if it belongs to no file or the dumps
   * are full.
   */
  async prepareRecord(
    dumped: DumpedRunRef,
    rules: DumpRules,
    result: GroupResult,
    group: () => Promise<DumpedGroup>,
  ): Promise<DumpRecordInput | undefined> {
    const kinds = selectDumpKinds(result, rules)
    if (kinds.length === 0) return undefined
    const line = Buffer.from(encodeDumpLine(await group()))
    const record = await compress(line)
    await this.repository.markOpen(dumped)
    if (!(await this.repository.reserveBytes(line.length * kinds.length, this.#deps.maxBytes))) {
      for (const kind of kinds) await this.repository.countRejection(dumped, kind)
      this.#reportRejection(dumped.run, `the dumps have reached DUMPS_MAX_BYTES (${this.#deps.maxBytes})`)
      return undefined
    }
    return { uuid: dumped.uuid, kinds, bytes: line.length, record }
  }

  /**
   * Called after the completion of a group with a record. `results` has one entry per kind and is undefined if the
   * group was completed before.
   */
  async handleAppendResults(
    dumped: DumpedRunRef,
    { kinds, bytes }: DumpRecordInput,
    results: DumpAppendResult[] | undefined,
  ): Promise<void> {
    for (const [k, kind] of kinds.entries()) {
      const waiting = results?.[k]
      if (typeof waiting !== 'number') await this.repository.releaseBytes(bytes)
      if (waiting === 'rejected') this.#reportRejection(dumped.run, 'too many of its files could not be written')
      if (typeof waiting !== 'number') continue
      const fileSize = GROUPS_PER_FILE[kind]
      if (waiting % GROUPS_PER_PROGRESS_LOG === 0) {
        this.#deps.log.info(
          { run: dumped.run, dump_kind: kind },
          `${waiting} of ${fileSize} groups for the next dump file`,
        )
      }
      if (waiting >= fileSize) await this.#seal(dumped, kind, FULL_FILES_ONLY)
    }
  }

  /** Seals the waiting groups in a file now. Workers write the file. */
  async flush(dumped: DumpedRunRef): Promise<void> {
    for (const kind of DumpKind.options) await this.#seal(dumped, kind, NO_TIME_LIMIT)
  }

  /** Writes a sealed file, unless it is already written or another machine claims it. */
  async writeFile(file: SealedFile, onStep: OnWriteStep = () => {}): Promise<void> {
    const { repository, folder, replication, log } = this.#deps
    const id = await folder.getOrCreateId()
    if ((await repository.claimFile(file, id)) !== 'ours') return
    const name = formatDumpFileName(file)
    const size = { groups: 0, bytes: 0 }
    const mark = replication.mark()
    const stillOurs = async () => {
      await replication.confirm(mark) // otherwise the groups might be scored and dumped again
      return (await repository.claimFile(file, id)) === 'ours'
    }
    const onUnreadable = (err: unknown) =>
      log.warn({ err, run: file.run, file: name }, 'a record could not be read and is left out of its dump file')
    const lines = decompressLines(repository.readRecords(file), size, onUnreadable)
    try {
      if (!(await folder.writeFile(name, lines, stillOurs, onStep))) return
    } catch (err) {
      log.warn({ err, run: file.run, file: name }, 'a dump file could not be written; the server retries')
      throw err
    }
    const created_at = new Date(redisNow()).toISOString()
    const { run, kind } = file
    const written: WrittenFile = { name, run, kind, ...size, created_at, node: folder.node, folder: id }
    if (await repository.markFileWritten(file, written)) log.info({ run, file: name, ...size }, 'dump file written')
    else if ((await repository.getFile(file, name))?.folder !== id) await folder.deleteFile(name)
  }

  /** Seals full and idle files, adds lost jobs again, and seals everything that waits for a deleted run. */
  async sweep(uuidOf: (run: string) => Promise<string | undefined>, now = redisNow()): Promise<void> {
    const { repository, producer, idleFlushMs, log } = this.#deps
    const retryRound = Math.floor(now / LOST_JOB_TIMEOUT_MS)
    await sweepEach(log, await repository.listRuns('open'), async (dumped) => {
      const isDeleted = (await uuidOf(dumped.run)) !== dumped.uuid
      for (const kind of DumpKind.options) await this.#seal(dumped, kind, isDeleted ? NO_TIME_LIMIT : now - idleFlushMs)
      const lostFiles = await repository.listUnwrittenBefore(dumped, now - LOST_JOB_TIMEOUT_MS)
      await producer.add(
        writeDumpJob,
        lostFiles.map((file) => ({ id: `${buildJobId(file)}/${retryRound}`, data: file })),
      )
      const { rollouts, failed } = await repository.readProgress(dumped)
      const idle = [rollouts, failed].every(({ waiting, unwritten }) => waiting + unwritten === 0)
      if (idle) await repository.closeIfIdle(dumped, now - INACTIVE_RUN_MS)
    })
  }

  /** Writes everything that waits, without the queue, until `signal` aborts. Used when a worker shuts down. */
  async writeAllPending(signal: AbortSignal): Promise<void> {
    await sweepEach(this.#deps.log, await this.repository.listRuns('open'), async (dumped) => {
      if (signal.aborted) return
      for (const kind of DumpKind.options) await this.repository.sealFiles(dumped, kind, NO_TIME_LIMIT)
      for (const file of await this.repository.listUnwrittenBefore(dumped, NO_TIME_LIMIT)) {
        if (signal.aborted) return
        await this.writeFile(file).catch(() => {}) // writeFile logs it; the records stay in Redis for the next worker
      }
    })
  }

  #reportRejection(run: string, reason: string): void {
    this.#logRejection(`groups of the run ${run} were scored, but not dumped: ${reason}`, run)
  }

  async #seal(dumped: DumpedRunRef, kind: DumpKind, idleSince: number): Promise<void> {
    const sealed = await this.repository.sealFiles(dumped, kind, idleSince)
    if (sealed.length === 0) return
    // If the job cannot be added now, the sweeper adds it.
    await this.#deps.producer
      .add(
        writeDumpJob,
        sealed.map((file) => ({ id: buildJobId(file), data: file })),
      )
      .catch((err: unknown) =>
        this.#deps.log.warn({ err, queue: writeDumpJob.name }, 'a job could not be queued; the sweeper retries'),
      )
  }
}

function buildJobId({ run, uuid, kind, number }: SealedFile): string {
  return `${run}/${uuid}/${kind}/${number}`
}

async function* decompressLines(
  chunks: AsyncIterable<Buffer[]>,
  size: { groups: number; bytes: number },
  onUnreadable: (error: unknown) => void,
): AsyncGenerator<Buffer> {
  for await (const records of chunks) {
    for (const record of records) {
      const line = await decompress(record).catch(onUnreadable)
      if (!line) continue
      size.groups += 1
      size.bytes += line.length
      yield line
    }
  }
}
