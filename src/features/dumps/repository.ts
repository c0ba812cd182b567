/** Dumps in Redis: waiting records, frozen files, files on disk. One script takes each step between these states. */

import {
  type DumpKind,
  type DumpProgress,
  GROUPS_PER_FILE,
  DumpKind as Kinds,
} from '@reasoning-gym-server/contract/dump'
import type { Redis } from 'ioredis'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { listJsonFields } from '../../platform/redis/record.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { dumpStateRecord } from '../rollouts/dump-state-record.ts'
import { dumpSpaceRecord, UnwrittenFile, WrittenFile } from './dump-file-records.ts'
import { createDumpKeys, type DumpKeys } from './keys.ts'

/** Tables of field names for the scripts. */
const constants = {
  DUMPS: dumpStateRecord.constants,
  FILE: listJsonFields(UnwrittenFile),
  SPACE: dumpSpaceRecord.constants,
}
const STATE = dumpStateRecord.constants

const freezeDumpFile = defineScript({
  folder: import.meta.dirname,
  name: 'freeze-dump-file',
  keys: ['state', 'unwrittenFiles', 'pendingRecords'],
  constants,
})
const claimDumpFile = defineScript({
  folder: import.meta.dirname,
  name: 'claim-dump-file',
  keys: ['unwrittenFiles'],
  constants,
})
const markDumpFileWritten = defineScript({
  folder: import.meta.dirname,
  name: 'mark-dump-file-written',
  keys: ['state', 'unwrittenFiles', 'fileRecords', 'writtenFiles'],
  constants,
})

const changeDumpSpace = defineScript({
  folder: import.meta.dirname,
  name: 'change-dump-space',
  keys: ['dumpSpace'],
  constants,
})
const correctDumpSpace = defineScript({
  folder: import.meta.dirname,
  name: 'correct-dump-space',
  keys: ['dumpSpace'],
  constants,
})

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
export interface FrozenFile extends DumpedRunRef {
  kind: DumpKind
  number: number
}

export class DumpRepository {
  readonly #redis: Redis
  readonly #keys: DumpKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createDumpKeys(keys)
  }

  /** Called before records are added, so that the sweeper finds them even if the run is deleted in the meantime. */
  async markOpen({ run, uuid }: DumpedRunRef): Promise<void> {
    const member = `${run}/${uuid}`
    await Promise.all([
      this.#redis.sadd(this.#keys.dumpedRuns, member),
      this.#redis.zadd(this.#keys.openDumpedRuns, fleetNow(), member),
    ])
  }

  /** Returns false if the size of all dumps would exceed `maxBytes`. */
  async reserveBytes(bytes: number, maxBytes: number): Promise<boolean> {
    return (await changeDumpSpace(this.#redis, this.#keys, [bytes, fleetNow(), maxBytes])) === 1
  }

  async releaseBytes(bytes: number): Promise<void> {
    await changeDumpSpace(this.#redis, this.#keys, [-bytes, fleetNow()])
  }

  async readReservedBytes(): Promise<number> {
    return (await this.#readSpace()).bytes
  }

  async countRejection({ run, uuid }: DumpedRunRef, kind: DumpKind): Promise<void> {
    await this.#redis.hincrby(this.#keys.forDumps(run, uuid).state, STATE.rejected_groups + kind, 1)
  }

  /** Freezes every full file, and a partial one that has not grown since `idleSince`. */
  async freezeFiles({ run, uuid }: DumpedRunRef, kind: DumpKind, idleSince: number): Promise<FrozenFile[]> {
    const keys = this.#keys.forDumps(run, uuid)
    const frozen: FrozenFile[] = []
    for (;;) {
      const number = await freezeDumpFile(this.#redis, { ...keys, pendingRecords: keys.pendingRecords(kind) }, [
        kind,
        GROUPS_PER_FILE[kind],
        idleSince,
        fleetNow(),
        keys.fileRecords(kind, ''),
      ])
      if (number === null) return frozen
      frozen.push({ run, uuid, kind, number: Number(number) })
    }
  }

  async claimFile(file: FrozenFile, folder: string): Promise<'ours' | 'theirs' | 'gone'> {
    const keys = this.#keys.forDumps(file.run, file.uuid)
    const args = [formatFileField(file), folder, fleetNow(), FILE_CLAIM_TTL_MS]
    const answer = await claimDumpFile(this.#redis, keys, args)
    return answer as 'ours' | 'theirs' | 'gone' // the reply that the script documents
  }

  /** Reads the records of a file in order, several at a time. */
  async *readRecords({ run, uuid, kind, number }: FrozenFile): AsyncGenerator<Buffer[]> {
    const key = this.#keys.forDumps(run, uuid).fileRecords(kind, number)
    for (let k = 0; ; k += RECORDS_PER_READ) {
      const records = await this.#redis.lrangeBuffer(key, k, k + RECORDS_PER_READ - 1)
      if (records.length > 0) yield records
      if (records.length < RECORDS_PER_READ) return
    }
  }

  /** Returns false if another attempt was faster. */
  async markFileWritten(file: FrozenFile, written: WrittenFile): Promise<boolean> {
    const keys = this.#keys.forDumps(file.run, file.uuid)
    const done = await markDumpFileWritten(
      this.#redis,
      { ...keys, fileRecords: keys.fileRecords(file.kind, file.number) },
      [formatFileField(file), written.name, JSON.stringify(written), written.bytes, file.kind, written.groups],
    )
    return done === 1
  }

  /** Lists the files that were frozen before `time` and are not on disk. */
  async listUnwrittenBefore({ run, uuid }: DumpedRunRef, time: number): Promise<FrozenFile[]> {
    const fields = await this.#redis.hgetall(this.#keys.forDumps(run, uuid).unwrittenFiles)
    return Object.entries(fields)
      .filter(([, text]) => UnwrittenFile.parse(JSON.parse(text)).frozen_at <= time)
      .map(([field]) => {
        const [kind, number] = field.split('/')
        return { run, uuid, kind: Kinds.parse(kind), number: Number(number) }
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
    const opened = await this.#redis.zscore(this.#keys.openDumpedRuns, `${run}/${uuid}`)
    if (opened !== null && Number(opened) < time) await this.#redis.zrem(this.#keys.openDumpedRuns, `${run}/${uuid}`)
  }

  async listFiles({ run, uuid }: DumpedRunRef): Promise<WrittenFile[]> {
    const texts = await this.#redis.hvals(this.#keys.forDumps(run, uuid).writtenFiles)
    return texts.map((text) => WrittenFile.parse(JSON.parse(text)))
  }

  async getFile({ run, uuid }: DumpedRunRef, name: string): Promise<WrittenFile | undefined> {
    const text = await this.#redis.hget(this.#keys.forDumps(run, uuid).writtenFiles, name)
    return text === null ? undefined : WrittenFile.parse(JSON.parse(text))
  }

  /** Adds the record of a file that was found on disk without one. */
  async registerFile({ run, uuid }: DumpedRunRef, written: WrittenFile): Promise<void> {
    await this.#redis.sadd(this.#keys.dumpedRuns, `${run}/${uuid}`)
    const keys = this.#keys.forDumps(run, uuid)
    const fresh = await this.#redis.hsetnx(keys.writtenFiles, written.name, JSON.stringify(written))
    if (fresh) await changeDumpSpace(this.#redis, this.#keys, [written.bytes, fleetNow()])
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
      ...Kinds.options.map((kind) => this.#redis.llen(keys.pendingRecords(kind))),
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
    if (fleetNow() - changed_at < quietMs) return
    let bytes = 0
    for (const dumped of await this.listRuns('all')) {
      const { state } = this.#keys.forDumps(dumped.run, dumped.uuid)
      const waiting = Number((await this.#redis.hget(state, STATE.bytes)) ?? 0)
      bytes += waiting + (await this.listFiles(dumped)).reduce((sum, file) => sum + file.bytes, 0)
    }
    await correctDumpSpace(this.#redis, this.#keys, [bytes, changed_at])
  }

  async #readSpace() {
    const { bytes = 0, changed_at = 0 } = dumpSpaceRecord.parse(await this.#redis.hgetall(this.#keys.dumpSpace))
    return { bytes, changed_at }
  }
}

function formatFileField({ kind, number }: FrozenFile): string {
  return `${kind}/${number}`
}
