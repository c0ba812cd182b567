/** Dumps in Redis: records that wait, files whose groups are fixed, files on disk. One script for each step between them. */
import type { Redis } from 'ioredis'
import { type DumpKind, type DumpProgress, FILE_GROUPS, DumpKind as Kinds } from '../words/dump.ts'
import type { Keys } from './keys.ts'
import { loadScript } from './script.ts'

const freezeDump = loadScript('freeze-dump-3')
const claimDump = loadScript('claim-dump-1')
const acknowledgeDump = loadScript('acknowledge-dump-4')

/** A folder that says nothing for so long has lost its claim on a file. */
const CLAIM_MS = 10 * 60 * 1000
const READ_AT_ONCE = 8

/** The dumps of one run: a run of the same name that comes later has another uuid. */
export interface DumpedRun {
  run: string
  uuid: string
}

/** A file whose groups are fixed. */
export interface FrozenFile extends DumpedRun {
  kind: DumpKind
  number: number
}

/** A file on disk, as it is noted. */
export interface WrittenFile {
  name: string
  run: string
  kind: DumpKind
  groups: number
  bytes: number
  created_at: string
  node: string
  folder: string
}

export class DumpBook {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Before records are added: so that whatever waits can be found, even if the run is gone by then. */
  async open({ run, uuid }: DumpedRun): Promise<void> {
    const member = `${run}/${uuid}`
    await Promise.all([
      this.#redis.sadd(this.#keys.dumps, member),
      this.#redis.zadd(this.#keys.openDumps, Date.now(), member),
    ])
  }

  /** Takes room for `bytes`, if that leaves the sum within `most`. */
  async reserve(bytes: number, most: number): Promise<boolean> {
    if ((await this.#redis.incrby(this.#keys.dumpBytes, bytes)) <= most) return true
    await this.release(bytes)
    return false
  }

  async release(bytes: number): Promise<void> {
    await this.#redis.decrby(this.#keys.dumpBytes, bytes)
  }

  /** What is taken now. */
  async bytes(): Promise<number> {
    return Number((await this.#redis.get(this.#keys.dumpBytes)) ?? 0)
  }

  async countRefusal({ run, uuid }: DumpedRun, kind: DumpKind): Promise<void> {
    await this.#redis.hincrby(this.#keys.ofDumps(run, uuid).state, `${kind}:refused`, 1)
  }

  /** Fixes the groups of every file that is full, and of a partial one that has not grown since `quietSince`. */
  async freeze({ run, uuid }: DumpedRun, kind: DumpKind, quietSince: number): Promise<FrozenFile[]> {
    const keys = this.#keys.ofDumps(run, uuid)
    const frozen: FrozenFile[] = []
    for (;;) {
      const number = await freezeDump(
        this.#redis,
        [keys.state, keys.unwritten, keys.waiting(kind)],
        [kind, FILE_GROUPS[kind], quietSince, Date.now(), keys.frozen(kind, '')],
      )
      if (number === null) return frozen
      frozen.push({ run, uuid, kind, number: Number(number) })
    }
  }

  async claim(file: FrozenFile, folder: string): Promise<'ours' | 'theirs' | 'gone'> {
    const { unwritten } = this.#keys.ofDumps(file.run, file.uuid)
    const answer = await claimDump(this.#redis, [unwritten], [fieldOf(file), folder, Date.now(), CLAIM_MS])
    return answer as 'ours' | 'theirs' | 'gone' // the script gives one of these words
  }

  /** The records of a file in order, some at a time. */
  async *records({ run, uuid, kind, number }: FrozenFile): AsyncGenerator<Buffer[]> {
    const key = this.#keys.ofDumps(run, uuid).frozen(kind, number)
    for (let k = 0; ; k += READ_AT_ONCE) {
      const records = await this.#redis.lrangeBuffer(key, k, k + READ_AT_ONCE - 1)
      if (records.length > 0) yield records
      if (records.length < READ_AT_ONCE) return
    }
  }

  /** False if another attempt was faster. */
  async acknowledge(file: FrozenFile, written: WrittenFile): Promise<boolean> {
    const keys = this.#keys.ofDumps(file.run, file.uuid)
    const done = await acknowledgeDump(
      this.#redis,
      [keys.state, keys.unwritten, keys.frozen(file.kind, file.number), keys.files],
      [fieldOf(file), written.name, JSON.stringify(written), written.bytes, file.kind, written.groups],
    )
    return done === 1
  }

  /** Files that were fixed before `time` and are not on disk. */
  async unwrittenSince({ run, uuid }: DumpedRun, time: number): Promise<FrozenFile[]> {
    const fields = await this.#redis.hgetall(this.#keys.ofDumps(run, uuid).unwritten)
    return Object.entries(fields)
      .filter(([, text]) => (JSON.parse(text) as { at: number }).at <= time) // written by freeze-dump
      .map(([field]) => {
        const [kind, number] = field.split('/')
        return { run, uuid, kind: Kinds.parse(kind), number: Number(number) }
      })
  }

  /** All runs that have dumps, or those in which something may still wait. */
  async runs(which: 'all' | 'open'): Promise<DumpedRun[]> {
    const members = await (which === 'all'
      ? this.#redis.smembers(this.#keys.dumps)
      : this.#redis.zrange(this.#keys.openDumps, '0', '-1'))
    return members.map((member) => {
      const at = member.lastIndexOf('/')
      return { run: member.slice(0, at), uuid: member.slice(at + 1) }
    })
  }

  /** Takes a run off the open ones if nobody opened it since `time`. */
  async settle({ run, uuid }: DumpedRun, time: number): Promise<void> {
    const opened = await this.#redis.zscore(this.#keys.openDumps, `${run}/${uuid}`)
    if (opened !== null && Number(opened) < time) await this.#redis.zrem(this.#keys.openDumps, `${run}/${uuid}`)
  }

  async files({ run, uuid }: DumpedRun): Promise<WrittenFile[]> {
    const texts = await this.#redis.hvals(this.#keys.ofDumps(run, uuid).files)
    return texts.map((text) => JSON.parse(text) as WrittenFile) // written by acknowledge and adopt
  }

  async file({ run, uuid }: DumpedRun, name: string): Promise<WrittenFile | undefined> {
    const text = await this.#redis.hget(this.#keys.ofDumps(run, uuid).files, name)
    return text === null ? undefined : (JSON.parse(text) as WrittenFile) // as above
  }

  /** Notes a file that was found on disk and that nobody knows. */
  async adopt({ run, uuid }: DumpedRun, written: WrittenFile): Promise<void> {
    await this.#redis.sadd(this.#keys.dumps, `${run}/${uuid}`)
    const keys = this.#keys.ofDumps(run, uuid)
    const fresh = await this.#redis.hsetnx(keys.files, written.name, JSON.stringify(written))
    if (fresh) await this.#redis.incrby(this.#keys.dumpBytes, written.bytes)
  }

  async forget({ run, uuid }: DumpedRun, { name, bytes }: WrittenFile): Promise<void> {
    const gone = await this.#redis.hdel(this.#keys.ofDumps(run, uuid).files, name)
    if (gone) await this.release(bytes)
  }

  async progress({ run, uuid }: DumpedRun): Promise<DumpProgress> {
    const keys = this.#keys.ofDumps(run, uuid)
    const [state, unwritten, ...waiting] = await Promise.all([
      this.#redis.hgetall(keys.state),
      this.#redis.hkeys(keys.unwritten),
      ...Kinds.options.map((kind) => this.#redis.llen(keys.waiting(kind))),
    ])
    const of = (kind: DumpKind, k: number) => ({
      waiting: waiting[k] ?? 0,
      of: FILE_GROUPS[kind],
      unwritten: unwritten.filter((field) => field.startsWith(`${kind}/`)).length,
      written: Number(state[`${kind}:written`] ?? 0),
      refused: Number(state[`${kind}:refused`] ?? 0),
    })
    return { rollouts: of('rollouts', 0), failed: of('failed', 1) }
  }

  /** Counts the bytes anew: a process that died between taking room and using it leaves the sum too high. */
  async recountBytes(): Promise<number> {
    let bytes = 0
    for (const dumped of await this.runs('all')) {
      const waiting = Number((await this.#redis.hget(this.#keys.ofDumps(dumped.run, dumped.uuid).state, 'bytes')) ?? 0)
      bytes += waiting + (await this.files(dumped)).reduce((sum, file) => sum + file.bytes, 0)
    }
    await this.#redis.set(this.#keys.dumpBytes, bytes)
    return bytes
  }
}

function fieldOf({ kind, number }: FrozenFile): string {
  return `${kind}/${number}`
}
