/**
 * A run's dumps, from the scored group to the file.
 *
 *   prepared  the worker that scored a group builds its line and reserves bytes for it
 *   waiting   the completion script appends it to the run's records, or counts a rejection
 *   frozen    100 groups (or 50 failed ones), or fewer after an idle time, are fixed under the file's number
 *   written   every attempt writes the same bytes under the same name; the first to report it deletes the records
 *
 * Each step is one script in the run's slot. A process that dies between two of them leaves work for the sweeper.
 */
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { type DumpFile, DumpKind, GROUPS_PER_FILE } from '@reasoning-gym-server/contract/dump'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Logger } from 'pino'
import type { GroupResult } from '../../grading/group.ts'
import type { Producer } from '../../platform/queue/producer.ts'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { WriteConfirmation } from '../../platform/redis/replication.ts'
import type { DumpRecordInput } from '../rollouts/repository.ts'
import type { WrittenFile } from './dump-file-records.ts'
import type { DumpFolder, OnWriteStep } from './dump-folder.ts'
import { type DumpedGroup, encodeDumpLine } from './dump-record.ts'
import { type DumpRules, selectDumpKinds } from './dump-rules.ts'
import { formatDumpFileName, parseDumpFileName } from './file-name.ts'
import { writeDumpJob } from './jobs/definitions.ts'
import { DumpRejectionLogger } from './rejection-logger.ts'
import type { DumpedRunRef, DumpRepository, FrozenFile } from './repository.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Number of groups between two lines of progress in the log. */
const GROUPS_PER_PROGRESS_LOG = 10
/** Time after which the job of a frozen file counts as lost. */
const LOST_JOB_TIMEOUT_MS = 15_000
/** Time without new records after which the sweeper skips a run until the run gets a record. */
const INACTIVE_RUN_MS = 60 * 60 * 1000
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
export type DumpAppendResult = number | 'rejected'

export class Dumps {
  readonly folder: DumpFolder
  readonly repository: DumpRepository
  readonly #deps: DumpsDeps
  readonly #rejectionLogger: DumpRejectionLogger

  constructor(deps: DumpsDeps) {
    this.#deps = deps
    this.folder = deps.folder
    this.repository = deps.repository
    this.#rejectionLogger = new DumpRejectionLogger(deps.log)
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
      this.#rejectionLogger.report(dumped.run, `the dumps have reached DUMPS_MAX_BYTES (${this.#deps.maxBytes})`)
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
      if (waiting === 'rejected') this.#rejectionLogger.report(dumped.run, 'too many of its files could not be written')
      if (typeof waiting !== 'number') continue
      const fileSize = GROUPS_PER_FILE[kind]
      if (waiting % GROUPS_PER_PROGRESS_LOG === 0) {
        this.#deps.log.info(
          { run: dumped.run, dumpKind: kind },
          `${waiting} of ${fileSize} groups for the next dump file`,
        )
      }
      if (waiting >= fileSize) await this.#freeze(dumped, kind, FULL_FILES_ONLY)
    }
  }

  /** Freezes the waiting groups in a file now. Workers write the file. */
  async flush(dumped: DumpedRunRef): Promise<void> {
    for (const kind of DumpKind.options) await this.#freeze(dumped, kind, NO_TIME_LIMIT)
  }

  /** Writes a frozen file, unless it is already written or another machine claims it. */
  async writeFile(file: FrozenFile, onStep: OnWriteStep = () => {}): Promise<void> {
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
    try {
      if (!(await folder.writeFile(name, decompressLines(repository.readRecords(file), size), stillOurs, onStep)))
        return
    } catch (err) {
      log.warn({ err, run: file.run, file: name }, 'a dump file could not be written; the server retries')
      throw err
    }
    const created_at = new Date(fleetNow()).toISOString()
    const { run, kind } = file
    const written: WrittenFile = { name, run, kind, ...size, created_at, node: folder.node, folder: id }
    if (await repository.markFileWritten(file, written)) log.info({ run, file: name, ...size }, 'dump file written')
    else if ((await repository.getFile(file, name))?.folder !== id) await folder.deleteFile(name)
  }

  /** Freezes full and idle files, adds lost jobs again, and freezes everything that waits for a deleted run. */
  async sweep(uuidOf: (run: string) => Promise<string | undefined>, now = fleetNow()): Promise<void> {
    const { repository, producer, idleFlushMs } = this.#deps
    const retryRound = Math.floor(now / LOST_JOB_TIMEOUT_MS)
    for (const dumped of await repository.listRuns('open')) {
      const isDeleted = (await uuidOf(dumped.run)) !== dumped.uuid
      for (const kind of DumpKind.options)
        await this.#freeze(dumped, kind, isDeleted ? NO_TIME_LIMIT : now - idleFlushMs)
      const lostFiles = await repository.listUnwrittenBefore(dumped, now - LOST_JOB_TIMEOUT_MS)
      await producer.add(
        writeDumpJob,
        lostFiles.map((file) => ({ id: `${buildJobId(file)}/${retryRound}`, data: file })),
      )
      const { rollouts, failed } = await repository.readProgress(dumped)
      const idle = [rollouts, failed].every(({ waiting, unwritten }) => waiting + unwritten === 0)
      if (idle) await repository.closeIfIdle(dumped, now - INACTIVE_RUN_MS)
    }
  }

  /** Writes everything that waits, without the queue, until `signal` aborts. Used when a worker shuts down. */
  async writeAllPending(signal: AbortSignal): Promise<void> {
    for (const dumped of await this.repository.listRuns('open')) {
      for (const kind of DumpKind.options) await this.repository.freezeFiles(dumped, kind, NO_TIME_LIMIT)
      for (const file of await this.repository.listUnwrittenBefore(dumped, NO_TIME_LIMIT)) {
        if (signal.aborted) return
        await this.writeFile(file).catch(() => {}) // writeFile logs it; the records stay in Redis for the next worker
      }
    }
  }

  /** Lists all files, oldest first. Deletes the records of files that were deleted from this folder by hand. */
  async listFiles(run?: string): Promise<DumpFile[]> {
    const runs = (await this.repository.listRuns('all')).filter((dumped) => run === undefined || dumped.run === run)
    const noted = await Promise.all(
      runs.map(async (dumped) => ({ dumped, files: await this.repository.listFiles(dumped) })),
    )
    // read after the records
    const [id, names] = [await this.folder.getId(), new Set(await this.folder.listFileNames())]
    const files: DumpFile[] = []
    for (const { dumped, files: some } of noted) {
      for (const file of some) {
        const { folder, ...rest } = file
        const here = folder === id
        if (here && !names.has(file.name)) await this.repository.deleteFile(dumped, file)
        else files.push({ ...rest, here })
      }
    }
    return files.toSorted((a, b) => compareStrings(a.created_at, b.created_at) || compareStrings(a.name, b.name))
  }

  /** Returns a file that is in this folder. Throws `unknown_dump` and `dump_elsewhere`. */
  async requireFile(name: string): Promise<WrittenFile & { path: string }> {
    const { file, dumped } = await this.#requireWrittenFile(name)
    const found = await this.folder.getFile(name)
    if (found) return { ...file, path: found.path }
    await this.repository.deleteFile(dumped, file)
    throw new ServiceError('unknown_dump', `The dump ${name} was deleted from the data directory`, {
      missing: { kind: 'dump', name },
    })
  }

  /** Throws the same errors as `requireFile`. */
  async deleteFile(name: string): Promise<void> {
    const { file, dumped } = await this.#requireWrittenFile(name)
    await this.folder.deleteFile(name)
    await this.repository.deleteFile(dumped, file)
    this.#deps.log.info({ run: file.run, file: name }, 'dump file deleted')
  }

  async #requireWrittenFile(name: string): Promise<{ file: WrittenFile; dumped: DumpedRunRef }> {
    const uuid = parseDumpFileName(name)?.uuid
    const dumped = (await this.repository.listRuns('all')).find((one) => one.uuid === uuid)
    const file = dumped && (await this.repository.getFile(dumped, name))
    if (!file)
      throw new ServiceError('unknown_dump', `There is no dump ${name}. GET /dumps lists the dumps.`, {
        missing: { kind: 'dump', name },
      })
    if (file.folder !== (await this.folder.getId())) {
      throw new ServiceError(
        'dump_elsewhere',
        `The dump ${name} is on the node ${file.node}, in its folder data_dumps. Request it there.`,
      )
    }
    return { file, dumped }
  }

  async #freeze(dumped: DumpedRunRef, kind: DumpKind, idleSince: number): Promise<void> {
    const frozen = await this.repository.freezeFiles(dumped, kind, idleSince)
    if (frozen.length === 0) return
    // If the job cannot be added now, the sweeper adds it.
    await this.#deps.producer
      .add(
        writeDumpJob,
        frozen.map((file) => ({ id: buildJobId(file), data: file })),
      )
      .catch((err: unknown) => this.#deps.log.warn({ err }, 'a job could not be queued; the sweeper retries'))
  }
}

function buildJobId({ run, uuid, kind, number }: FrozenFile): string {
  return `${run}/${uuid}/${kind}/${number}`
}

function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

async function* decompressLines(
  chunks: AsyncIterable<Buffer[]>,
  size: { groups: number; bytes: number },
): AsyncGenerator<Buffer> {
  for await (const records of chunks) {
    for (const record of records) {
      const line = await decompress(record)
      size.groups += 1
      size.bytes += line.length
      yield line
    }
  }
}
