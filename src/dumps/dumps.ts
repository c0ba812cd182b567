/**
 * A run's dumps, from the scored group to the file.
 *
 *   offered   the worker that scored a group makes its line and takes room for it
 *   waiting   the completion script adds it to the records of its run, or counts a refusal
 *   frozen    100 (50) groups, or fewer after a quiet time, are fixed under the file's number
 *   written   any attempt writes the same bytes under the same name; the first to say so lets the records go
 *
 * Each arrow is one script in the run's slot; a process that dies between two of them leaves work for the sweeper.
 */
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Logger } from 'pino'
import { Fault } from '../faults.ts'
import type { Producer } from '../queue/producer.ts'
import type { GroupResult } from '../scoring/group.ts'
import type { DumpBook, DumpedRun, FrozenFile, WrittenFile } from '../store/dumps.ts'
import type { DumpOffer } from '../store/groups.ts'
import { type DumpFile, DumpKind, FILE_GROUPS } from '../words/dump.ts'
import { fileNameOf, placeOfName } from './file-name.ts'
import type { DumpFolder, OnStep } from './folder.ts'
import { type DumpedGroup, lineOf } from './record.ts'
import { Refusals } from './refusals.ts'
import { type DumpRules, kindsOf } from './rule.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Groups between two lines of progress in the log. */
const TELL_EVERY = 10
/** A frozen file whose job may be lost. */
const FORGOTTEN_MS = 15_000
/** A run that has not grown for so long is looked at no more until it grows again. */
const SETTLED_MS = 60 * 60 * 1000
const AT_ONCE = Number.MAX_SAFE_INTEGER
const NEVER = 0

interface Parts {
  book: DumpBook
  folder: DumpFolder
  producer: Producer
  log: Logger
  maxBytes: number
  quietMs: number
}

/** What the completion script did with the record of each kind: how many wait now, or that it was refused. */
export type Kept = number | 'refused'

export class Dumps {
  readonly folder: DumpFolder
  readonly book: DumpBook
  readonly #parts: Parts
  readonly #refusals: Refusals

  constructor(parts: Parts) {
    this.#parts = parts
    this.folder = parts.folder
    this.book = parts.book
    this.#refusals = new Refusals(parts.log)
  }

  /** The record of a group for its completion; undefined if it goes to no file, or if there is no room. */
  async offer(
    dumped: DumpedRun,
    rules: DumpRules,
    result: GroupResult,
    group: () => Promise<DumpedGroup>,
  ): Promise<DumpOffer | undefined> {
    const kinds = kindsOf(result, rules)
    if (kinds.length === 0) return undefined
    const line = Buffer.from(lineOf(await group()))
    const record = await compress(line)
    await this.book.open(dumped)
    if (!(await this.book.reserve(line.length * kinds.length, this.#parts.maxBytes))) {
      for (const kind of kinds) await this.book.countRefusal(dumped, kind)
      this.#refusals.tell(dumped.run, `the dumps have reached DUMPS_MAX_BYTES (${this.#parts.maxBytes})`)
      return undefined
    }
    return { uuid: dumped.uuid, kinds, bytes: line.length, record }
  }

  /** After the completion of a group with an offer. `kept`: one for each kind, or undefined if it was done before. */
  async settle(dumped: DumpedRun, { kinds, bytes }: DumpOffer, kept: Kept[] | undefined): Promise<void> {
    for (const [k, kind] of kinds.entries()) {
      const waiting = kept?.[k]
      if (typeof waiting !== 'number') await this.book.release(bytes)
      if (waiting === 'refused') this.#refusals.tell(dumped.run, 'too many of its files could not be written')
      if (typeof waiting !== 'number') continue
      const of = FILE_GROUPS[kind]
      if (waiting % TELL_EVERY === 0) {
        this.#parts.log.info({ run: dumped.run, dump: kind }, `${waiting}/${of} groups to the next file`)
      }
      if (waiting >= of) await this.#freeze(dumped, kind, NEVER)
    }
  }

  /** What waits for a full file goes to one now; the writing is left to the workers. */
  async flush(dumped: DumpedRun): Promise<void> {
    for (const kind of DumpKind.options) await this.#freeze(dumped, kind, AT_ONCE)
  }

  /** Writes a frozen file, unless that is done or is up to another machine. */
  async write(file: FrozenFile, onStep: OnStep = () => {}): Promise<void> {
    const { book, folder, log } = this.#parts
    const id = await folder.id()
    if ((await book.claim(file, id)) !== 'ours') return
    const name = fileNameOf(file)
    const size = { groups: 0, bytes: 0 }
    const stillOurs = async () => (await book.claim(file, id)) === 'ours'
    try {
      if (!(await folder.write(name, lines(book.records(file), size), stillOurs, onStep))) return
    } catch (err) {
      log.warn({ err, run: file.run, file: name }, 'a dump file could not be written; it is tried again')
      throw err
    }
    const created_at = new Date().toISOString()
    const { run, kind } = file
    const written: WrittenFile = { name, run, kind, ...size, created_at, node: folder.node, folder: id }
    if (await book.acknowledge(file, written)) log.info({ run, file: name, ...size }, 'a dump file is written')
    else if ((await book.file(file, name))?.folder !== id) await folder.remove(name)
  }

  /** What is quiet, full or forgotten is brought on its way; for a run that is gone nothing waits any longer. */
  async sweep(uuidOf: (run: string) => Promise<string | undefined>, now = Date.now()): Promise<void> {
    const { book, producer, quietMs } = this.#parts
    const round = Math.floor(now / FORGOTTEN_MS)
    for (const dumped of await book.runs('open')) {
      const gone = (await uuidOf(dumped.run)) !== dumped.uuid
      for (const kind of DumpKind.options) await this.#freeze(dumped, kind, gone ? AT_ONCE : now - quietMs)
      const forgotten = await book.unwrittenSince(dumped, now - FORGOTTEN_MS)
      await producer.add(
        'write-dump',
        forgotten.map((file) => ({ id: `${jobIdOf(file)}/${round}`, data: file })),
      )
      const { rollouts, failed } = await book.progress(dumped)
      const idle = [rollouts, failed].every(({ waiting, unwritten }) => waiting + unwritten === 0)
      if (idle) await book.settle(dumped, now - SETTLED_MS)
    }
  }

  /** At the end of a worker: whatever waits is written, without the queue, as far as `signal` lets it. */
  async writeAll(signal: AbortSignal): Promise<void> {
    for (const dumped of await this.book.runs('open')) {
      for (const kind of DumpKind.options) await this.book.freeze(dumped, kind, AT_ONCE)
      for (const file of await this.book.unwrittenSince(dumped, AT_ONCE)) {
        if (signal.aborted) return
        await this.write(file).catch(() => {}) // logged; it stays in Redis for the next worker
      }
    }
  }

  /** All files, oldest first; those that somebody deleted here by hand are forgotten. */
  async list(run?: string): Promise<DumpFile[]> {
    const runs = (await this.book.runs('all')).filter((dumped) => run === undefined || dumped.run === run)
    const noted = await Promise.all(runs.map(async (dumped) => ({ dumped, files: await this.book.files(dumped) })))
    const [id, names] = [await this.folder.knownId(), new Set(await this.folder.names())] // after what is noted
    const files: DumpFile[] = []
    for (const { dumped, files: some } of noted) {
      for (const file of some) {
        const { folder, ...rest } = file
        const here = folder === id
        if (here && !names.has(file.name)) await this.book.forget(dumped, file)
        else files.push({ ...rest, here })
      }
    }
    return files.toSorted((a, b) => compare(a.created_at, b.created_at) || compare(a.name, b.name))
  }

  /** A file that is here. Throws `unknown_dump`, or `dump_elsewhere`. */
  async find(name: string): Promise<WrittenFile & { path: string }> {
    const { file, dumped } = await this.#noted(name)
    const found = await this.folder.find(name)
    if (found) return { ...file, path: found.path }
    await this.book.forget(dumped, file)
    throw new Fault('unknown_dump', `${name} was deleted from the folder`)
  }

  /** Throws as `find` does. */
  async remove(name: string): Promise<void> {
    const { file, dumped } = await this.#noted(name)
    await this.folder.remove(name)
    await this.book.forget(dumped, file)
    this.#parts.log.info({ run: file.run, file: name }, 'a dump file is deleted')
  }

  async #noted(name: string): Promise<{ file: WrittenFile; dumped: DumpedRun }> {
    const uuid = placeOfName(name)?.uuid
    const dumped = (await this.book.runs('all')).find((one) => one.uuid === uuid)
    const file = dumped && (await this.book.file(dumped, name))
    if (!file) throw new Fault('unknown_dump', `There is no dump named ${name}; GET /dumps lists them`)
    if (file.folder !== (await this.folder.knownId())) {
      throw new Fault('dump_elsewhere', `${name} is on node ${file.node}, in its folder data_dumps: ask there`)
    }
    return { file, dumped }
  }

  async #freeze(dumped: DumpedRun, kind: DumpKind, quietSince: number): Promise<void> {
    const frozen = await this.book.freeze(dumped, kind, quietSince)
    if (frozen.length === 0) return
    // Frozen is frozen: if the queue cannot be told now, the sweeper tells it.
    await this.#parts.producer
      .add(
        'write-dump',
        frozen.map((file) => ({ id: jobIdOf(file), data: file })),
      )
      .catch((err: unknown) => this.#parts.log.warn({ err }, 'a job could not be added; the sweeper will add it'))
  }
}

function jobIdOf({ run, uuid, kind, number }: FrozenFile): string {
  return `${run}/${uuid}/${kind}/${number}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

async function* lines(
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
