/**
 * Dumps in Redis: waiting records, sealed files, files on disk and the space that all of them use. One script takes each
 * step between these states. Sealing is the rotation of files: it fixes the groups of a file, and later groups go to the
 * next one. The keys of one run are in its slot, because the script that completes a group also adds its record.
 */
import { DumpKind, type DumpProgress } from '@reasoning-gym-server/contract/dump'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { listJsonFields, RecordDeclaration } from '../../platform/redis/record.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { removeUnlessRenewed } from '../../platform/redis/sorted-sets.ts'
import { tryRead } from '../../platform/redis/unreadable-entries.ts'
import { createGroupKeys, dumpPrefix, dumpStateRecord } from '../rollouts/records.ts'

/** A sealed file that is not on disk. */
const UnwrittenFile = z.strictObject({
  groups: z.int(),
  sealed_at: z.number(),
  /** Folder that claims the file. */
  folder: z.string().optional(),
  claimed_at: z.number().optional(),
})

export const WrittenFile = z.strictObject({
  name: z.string(),
  run: z.string(),
  kind: DumpKind,
  groups: z.int(),
  bytes: z.int(),
  created_at: z.string(),
  /** Host name of the machine that wrote the file, and ID of the folder that has it. */
  node: z.string(),
  folder: z.string(),
})
export type WrittenFile = z.infer<typeof WrittenFile>

const dumpSpaceRecord = new RecordDeclaration({
  /** Size of all dumps, waiting and on disk. */
  bytes: { kind: 'counter' },
  changed_at: { kind: 'timestamp' },
})

type DumpKeys = ReturnType<typeof createDumpKeys>

export function createDumpKeys(keys: RedisKeys) {
  const groups = createGroupKeys(keys)
  return {
    /** Set of `RUN/UUID` that have dumps. */
    dumpedRuns: keys.key('dumped-runs'),
    /** Sorted set of `RUN/UUID` in which records may wait, by the time the last record was added. */
    openDumpedRuns: keys.key('open-dumped-runs'),
    /** Hash: size of all dumps, waiting and on disk. */
    dumpSpace: keys.key('dump-space'),
    forDumps(name: string, uuid: string) {
      const prefix = dumpPrefix(keys, name, uuid)
      return {
        ...groups.forDumpQueue(name, uuid),
        /** Hash of sealed files that are not on disk: `KIND/NUMBER` to JSON. */
        unwrittenFiles: `${prefix}:unwritten-files`,
        /** Hash of files on disk: name to JSON. */
        writtenFiles: `${prefix}:written-files`,
        fileRecords: (kind: DumpKind, number: number | '') => `${prefix}:${kind}:${number}`,
      }
    },
  }
}

const constants = {
  DUMPS: dumpStateRecord.constants,
  UNWRITTEN: listJsonFields(UnwrittenFile),
  WRITTEN: listJsonFields(WrittenFile),
  SPACE: dumpSpaceRecord.constants,
}
const STATE = dumpStateRecord.constants

const sealDumpFile = defineScript(import.meta.dirname, 'seal-dump-file', constants)
const claimDumpFile = defineScript(import.meta.dirname, 'claim-dump-file', constants)
const markDumpFileWritten = defineScript(import.meta.dirname, 'mark-dump-file-written', constants)

const changeDumpSpace = defineScript(import.meta.dirname, 'change-dump-space', constants)
const correctDumpSpace = defineScript(import.meta.dirname, 'correct-dump-space', constants)

/** Number of groups in a full file, as in the original environment. */
export const GROUPS_PER_FILE: Record<DumpKind, number> = { rollouts: 100, failed: 50 }
/** Time after which a folder loses its claim on a file unless it renews the claim. */
const FILE_CLAIM_TTL_MS = 10 * 60 * 1000
/** Time without changes before a recount. It is longer than a job takes between reserving bytes and using them. */
const RECOUNT_QUIET_MS = 60_000
const RECORDS_PER_READ = 8

/** The dumps of one run. A later run of the same name has another UUID. */
export interface DumpedRunRef {
  run: string
  uuid: string
}

/** A file whose groups are fixed. */
export interface SealedFile extends DumpedRunRef {
  kind: DumpKind
  number: number
}

export class DumpRepository {
  readonly #redis: Redis
  readonly #keys: DumpKeys
  /** The last change of the total size before the last recount. */
  #recountedAt: number | undefined

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createDumpKeys(keys)
  }

  /** Called before records are added, so that the sweeper finds them even if the run is deleted in the meantime. */
  async markOpen({ run, uuid }: DumpedRunRef): Promise<void> {
    const member = `${run}/${uuid}`
    await Promise.all([
      this.#redis.sadd(this.#keys.dumpedRuns, member),
      this.#redis.zadd(this.#keys.openDumpedRuns, redisNow(), member),
    ])
  }

  /** Returns false if the size of all dumps would exceed `maxBytes`. */
  async reserveBytes(bytes: number, maxBytes: number): Promise<boolean> {
    return (await changeDumpSpace(this.#redis, this.#keys, [bytes, redisNow(), maxBytes])) === 1
  }

  async releaseBytes(bytes: number): Promise<void> {
    await changeDumpSpace(this.#redis, this.#keys, [-bytes, redisNow()])
  }

  async readReservedBytes(): Promise<number> {
    return (await this.#readSpace()).bytes
  }

  async countRejection({ run, uuid }: DumpedRunRef, kind: DumpKind): Promise<void> {
    await this.#redis.hincrby(this.#keys.forDumps(run, uuid).state, STATE.rejected_groups + kind, 1)
  }

  /** Seals every full file, and a partial one that has not grown since `idleSince`. */
  async sealFiles({ run, uuid }: DumpedRunRef, kind: DumpKind, idleSince: number): Promise<SealedFile[]> {
    const keys = this.#keys.forDumps(run, uuid)
    const sealed: SealedFile[] = []
    for (;;) {
      const params = {
        kind,
        groups_per_file: GROUPS_PER_FILE[kind],
        idle_since: idleSince,
        now: redisNow(),
        file_prefix: keys.fileRecords(kind, ''),
      }
      const number = await sealDumpFile(this.#redis, { ...keys, pendingRecords: keys.pendingRecords(kind) }, [
        JSON.stringify(params),
      ])
      if (number === null) return sealed
      sealed.push({ run, uuid, kind, number: Number(number) })
    }
  }

  async claimFile(file: SealedFile, folder: string): Promise<'ours' | 'theirs' | 'gone'> {
    const keys = this.#keys.forDumps(file.run, file.uuid)
    const args = [formatFileField(file), folder, redisNow(), FILE_CLAIM_TTL_MS]
    const answer = await claimDumpFile(this.#redis, keys, args)
    return answer as 'ours' | 'theirs' | 'gone' // the reply that the script documents
  }

  /** Reads the records of a file in order, several at a time. */
  async *readRecords({ run, uuid, kind, number }: SealedFile): AsyncGenerator<Buffer[]> {
    const key = this.#keys.forDumps(run, uuid).fileRecords(kind, number)
    for (let k = 0; ; k += RECORDS_PER_READ) {
      const records = await this.#redis.lrangeBuffer(key, k, k + RECORDS_PER_READ - 1)
      if (records.length > 0) yield records
      if (records.length < RECORDS_PER_READ) return
    }
  }

  /** Returns false if another attempt was faster. */
  async markFileWritten(file: SealedFile, written: WrittenFile): Promise<boolean> {
    const keys = this.#keys.forDumps(file.run, file.uuid)
    const done = await markDumpFileWritten(
      this.#redis,
      { ...keys, fileRecords: keys.fileRecords(file.kind, file.number) },
      [formatFileField(file), JSON.stringify(written)],
    )
    return done === 1
  }

  /** Lists the files that were sealed before `time` and are not on disk. */
  async listUnwrittenBefore({ run, uuid }: DumpedRunRef, time: number): Promise<SealedFile[]> {
    const key = this.#keys.forDumps(run, uuid).unwrittenFiles
    const fields = await this.#redis.hgetall(key)
    // one that cannot be read is due: its records are in a list of their own
    const readTime = (name: string, text: string) =>
      tryRead(this.#redis, { key, name }, () => UnwrittenFile.parse(JSON.parse(text)).sealed_at) ?? 0
    return Object.entries(fields)
      .filter(([field, text]) => readTime(field, text) <= time)
      .map(([field]) => {
        const [kind, number] = field.split('/')
        return { run, uuid, kind: DumpKind.parse(kind), number: Number(number) }
      })
  }

  /** Lists all runs that have dumps, or those in which records may still wait. */
  async listRuns(which: 'all' | 'open'): Promise<DumpedRunRef[]> {
    const members = await (which === 'all'
      ? this.#redis.smembers(this.#keys.dumpedRuns)
      : this.#redis.zrange(this.#keys.openDumpedRuns, '0', '-1'))
    return members.map((member) => {
      const at = member.lastIndexOf('/')
      return { run: member.slice(0, at), uuid: member.slice(at + 1) }
    })
  }

  /** Removes a run from the open ones unless it was marked open since `time`. */
  async closeIfIdle({ run, uuid }: DumpedRunRef, time: number): Promise<void> {
    await removeUnlessRenewed(this.#redis, this.#keys.openDumpedRuns, `${run}/${uuid}`, time)
  }

  async listFiles({ run, uuid }: DumpedRunRef): Promise<WrittenFile[]> {
    const key = this.#keys.forDumps(run, uuid).writtenFiles
    const fields = Object.entries(await this.#redis.hgetall(key))
    return fields.flatMap(([name, text]) => this.#readWrittenFile(key, name, text) ?? [])
  }

  async getFile({ run, uuid }: DumpedRunRef, name: string): Promise<WrittenFile | undefined> {
    const key = this.#keys.forDumps(run, uuid).writtenFiles
    const text = await this.#redis.hget(key, name)
    return text === null ? undefined : this.#readWrittenFile(key, name, text)
  }

  #readWrittenFile(key: string, name: string, text: string): WrittenFile | undefined {
    return tryRead(this.#redis, { key, name }, () => WrittenFile.parse(JSON.parse(text)))
  }

  /** Adds the record of a file that was found on disk without one. */
  async registerFile({ run, uuid }: DumpedRunRef, written: WrittenFile): Promise<void> {
    await this.#redis.sadd(this.#keys.dumpedRuns, `${run}/${uuid}`)
    const keys = this.#keys.forDumps(run, uuid)
    const fresh = await this.#redis.hsetnx(keys.writtenFiles, written.name, JSON.stringify(written))
    if (fresh) await changeDumpSpace(this.#redis, this.#keys, [written.bytes, redisNow()])
  }

  async deleteFile({ run, uuid }: DumpedRunRef, { name, bytes }: WrittenFile): Promise<void> {
    const deleted = await this.#redis.hdel(this.#keys.forDumps(run, uuid).writtenFiles, name)
    if (deleted) await this.releaseBytes(bytes)
  }

  async readProgress({ run, uuid }: DumpedRunRef): Promise<DumpProgress> {
    const keys = this.#keys.forDumps(run, uuid)
    const [state, unwritten, ...waiting] = await Promise.all([
      this.#redis.hgetall(keys.state),
      this.#redis.hkeys(keys.unwrittenFiles),
      ...DumpKind.options.map((kind) => this.#redis.llen(keys.pendingRecords(kind))),
    ])
    const { written_groups, rejected_groups } = dumpStateRecord.parse(state)
    const of = (kind: DumpKind, k: number) => ({
      waiting: waiting[k] ?? 0,
      of: GROUPS_PER_FILE[kind],
      unwritten: unwritten.filter((field) => field.startsWith(`${kind}/`)).length,
      written: written_groups[kind] ?? 0,
      refused: rejected_groups[kind] ?? 0,
    })
    return { rollouts: of('rollouts', 0), failed: of('failed', 1) }
  }

  /**
   * Corrects the total size, which is too high after a process died between reserving bytes and using them. Does
   * nothing while the size changes, because a recount would treat reserved but unused bytes as free.
   */
  async recountBytes(quietMs = RECOUNT_QUIET_MS): Promise<void> {
    const { changed_at } = await this.#readSpace()
    if (redisNow() - changed_at < quietMs || changed_at === this.#recountedAt) return
    let bytes = 0
    for (const dumped of await this.listRuns('all')) {
      const { state } = this.#keys.forDumps(dumped.run, dumped.uuid)
      const waiting = Number((await this.#redis.hget(state, STATE.bytes)) ?? 0)
      bytes += waiting + (await this.listFiles(dumped)).reduce((sum, file) => sum + file.bytes, 0)
    }
    await correctDumpSpace(this.#redis, this.#keys, [bytes, changed_at])
    this.#recountedAt = changed_at
  }

  async #readSpace() {
    const { bytes = 0, changed_at = 0 } = dumpSpaceRecord.parse(await this.#redis.hgetall(this.#keys.dumpSpace))
    return { bytes, changed_at }
  }
}

function formatFileField({ kind, number }: SealedFile): string {
  return `${kind}/${number}`
}
