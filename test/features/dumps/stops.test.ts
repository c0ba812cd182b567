/** The writing of a file is stopped at each of its steps, for real: what was accepted is on disk once, and whole. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GroupSummary } from '@reasoning-gym-server/contract/batch'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { DumpFiles } from '../../../src/features/dumps/dump-files.ts'
import { DumpFolder, type WriteStep } from '../../../src/features/dumps/dump-folder.ts'
import { Dumps } from '../../../src/features/dumps/dumps.ts'
import { createDumpKeys, DumpRepository, type SealedFile } from '../../../src/features/dumps/repository.ts'
import { CompletionRepository } from '../../../src/features/rollouts/completion-repository.ts'
import { packGroup } from '../../../src/features/rollouts/group-payload.ts'
import { createGroupKeys } from '../../../src/features/rollouts/records.ts'
import { GroupRepository } from '../../../src/features/rollouts/repository.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { Producer } from '../../../src/platform/queue/queues.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys, type RedisKeys } from '../../../src/platform/redis/keys.ts'
import { NO_REPLICATION } from '../../../src/platform/redis/replication.ts'
import { keysOf } from '../../world.ts'
import { filesIn, ids, linesOf } from './dumping.ts'

const STEPS: WriteStep[] = [
  'opened',
  'partially_written',
  'written',
  'synced',
  'claimed',
  'renamed',
  'directory_synced',
]

const ITEM_ID = encodeItemId({
  task: 'leg_counting',
  seed: 1,
  index: 0,
  engine: '1',
  difficulty: null,
  config: {},
})
const run = { run: 'stops', uuid: randomUUID() }
let data: string
let prefix: string
let keys: RedisKeys
let redis: ReturnType<typeof connectForWorkers>
let book: DumpRepository

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'rgs-stops-'))
  prefix = `t${randomUUID().slice(0, 8)}`
  keys = createRedisKeys(prefix)
  redis = connectForWorkers({ url: inject('redisUrl'), prefix })
  book = new DumpRepository(redis, keys)
})
afterEach(() => {
  redis.disconnect()
  rmSync(data, { recursive: true, force: true })
})

const open = (dataDir = data, maxBytes = 1e9) =>
  new Dumps({
    replication: NO_REPLICATION,
    repository: book,
    folder: new DumpFolder(dataDir),
    producer: new Producer(redis, keys.queuePrefix),
    log: pino({ level: 'silent' }),
    maxBytes,
    idleFlushMs: 1e9,
  })

const listFiles = ({ folder }: Dumps) =>
  new DumpFiles({ repository: book, folder, log: pino({ level: 'silent' }) }).listFiles()

/** Groups are completed as a worker does it, with their records, and their file is fixed. */
async function sealedFile(count: number): Promise<SealedFile> {
  const dumps = open()
  const storage = { redis, keys, replication: NO_REPLICATION }
  const groups = new GroupRepository(storage)
  const completions = new CompletionRepository(storage)
  await redis.hset(createRunKeys(keys).run(run.run), { epoch: 1, revision: 1 })
  for (const group of ids(count)) {
    const place = { run: run.run, epoch: 1, group }
    const bounds = { revision: 1, rollouts: 1, forBuffer: false, maxGroups: 10, serverFull: false, lease: undefined }
    await groups.accept(
      place,
      packGroup({ item_id: ITEM_ID, group_id: group, rollouts: [{ completion: 'x' }] }, false),
      bounds,
    )
    const verdict = {
      status: 'scored',
      reward: 1,
      score: 1,
      answer: 'x',
      fault: null,
      components: { correct: 1, format: 1, length_penalty: 0, try_discount: 0 },
      advantage: 0,
    } as const
    const result = { status: 'scored', verdicts: [verdict], destination: 'not_buffered' } as const
    const dumped = {
      item_id: 'leg_counting',
      rollouts: [],
      group_id: group,
      run: run.run,
      difficulty: null,
      policy_version: null,
    }
    const recipe = { task: 'leg_counting', config: {}, seed: 1, index: 0, engine: '1' }
    const rules = resolveSettings({ dump_rollouts: true })
    const dump = await dumps.prepareRecord(run, rules, { ...result, verdicts: [verdict] }, async () => ({
      ...dumped,
      recipe,
    }))
    const summary: GroupSummary = {
      id: group,
      task: 'leg_counting',
      difficulty: null,
      scored: 1,
      policy_version: null,
      signal: true,
      rollouts: [[1, 1, null, null, []]],
    }
    const completion = {
      revision: 1,
      task: 'leg_counting',
      summary,
      retriable: false,
      maxRetainedGroups: 10,
      curriculumInput: undefined,
      dump,
      outcome: undefined,
    }
    const done = await completions.complete(place, { ...completion, result: { ...result, verdicts: [verdict] } })
    expect(done).toMatchObject({ dumpQueueLengths: [expect.any(Number)] })
    expect(
      await completions.complete(place, { ...completion, result: { ...result, verdicts: [verdict] } }),
    ).toBeUndefined()
  }
  const [file] = await book.sealFiles(run, 'rollouts', Number.MAX_SAFE_INTEGER)
  if (!file) throw new Error('no file was due')
  return file
}

async function stopAt(file: SealedFile, step: WriteStep): Promise<string | null> {
  const script = join(import.meta.dirname, 'stopped-writer.ts')
  const args = [script, data, inject('redisUrl'), prefix, JSON.stringify(file), step]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  const { promise, resolve } = Promise.withResolvers<string | null>()
  child.once('exit', (_code, signal) => resolve(signal))
  return promise
}

async function expectWrittenOnce(dumps: Dumps, count: number): Promise<void> {
  const names = filesIn(dumps.folder.path)
  expect(names).toHaveLength(1)
  expect(linesOf(dumps.folder.path, names[0] ?? '').map(({ group_id }) => group_id)).toEqual(ids(count))
  const { rollouts } = await book.readProgress(run)
  expect(rollouts).toMatchObject({ waiting: 0, unwritten: 0, written: count })
  expect((await listFiles(dumps)).map(({ groups }) => groups)).toEqual([count])
  await dumps.folder.deleteLeftoverParts()
  expect(readdirSync(dumps.folder.path).filter((name) => name.endsWith('.part'))).toEqual([])
  const keysLeft = await keysOf(
    redis,
    createDumpKeys(keys)
      .forDumps(run.run, run.uuid)
      .fileRecords('rollouts', '*' as ''),
  )
  expect(keysLeft).toEqual([])
}

describe('a writer that is killed', () => {
  for (const step of STEPS) {
    it(`when it has ${step}: the next one writes the file once`, async () => {
      const file = await sealedFile(12)
      expect(await stopAt(file, step)).toBe('SIGKILL')
      const before = filesIn(join(data, 'data_dumps'))
      expect(before).toHaveLength(STEPS.indexOf(step) >= STEPS.indexOf('renamed') ? 1 : 0)
      const dumps = open()
      await dumps.writeFile(file)
      await dumps.writeFile(file)
      await expectWrittenOnce(dumps, 12)
    })
  }
})

it('an attempt that fails leaves nothing beside, and the next one writes the file', async () => {
  const file = await sealedFile(12)
  const dumps = open()
  for (const stop of STEPS) {
    await expect(
      dumps.writeFile(file, (step) => {
        if (step === stop) throw new Error('disk full')
      }),
    ).rejects.toThrow('disk full')
    expect(readdirSync(dumps.folder.path).filter((name) => name.endsWith('.part'))).toEqual([])
  }
  await dumps.writeFile(file)
  await expectWrittenOnce(dumps, 12)
})

it('two writers at once, one ahead at any step, write one whole file', async () => {
  for (const ahead of STEPS) {
    await redis.del(
      createDumpKeys(keys).forDumps(run.run, run.uuid).writtenFiles,
      createDumpKeys(keys).forDumps(run.run, run.uuid).state,
    )
    rmSync(join(data, 'data_dumps'), { recursive: true, force: true })
    const file = await sealedFile(12)
    const [one, other] = [open(), open()]
    await one.writeFile(file, async (step) => {
      if (step === ahead) await other.writeFile(file)
    })
    await expectWrittenOnce(one, 12)
    await redis.del(...(await keysOf(redis, `${createGroupKeys(keys).forRun(run.run, 1).group('')}*`)))
  }
})

it('a folder that cannot be written to keeps the groups waiting; with room they are written', async () => {
  const file = await sealedFile(12)
  writeFileSync(join(data, 'data_dumps'), 'in the way')
  const dumps = open()
  await expect(dumps.writeFile(file)).rejects.toThrow()
  expect((await book.readProgress(run)).rollouts).toMatchObject({ unwritten: 1, written: 0 })
  rmSync(join(data, 'data_dumps'))
  mkdirSync(join(data, 'data_dumps'))
  await dumps.writeFile(file)
  await expectWrittenOnce(dumps, 12)
})

it('a folder that somebody deleted is made again for the next file, and is the same to all who knew it', async () => {
  const [one, other] = [open(), open()]
  await one.writeFile(await sealedFile(12))
  expect(await listFiles(other)).toMatchObject([{ here: true }])
  rmSync(join(data, 'data_dumps'), { recursive: true })
  await redis.del(createDumpKeys(keys).forDumps(run.run, run.uuid).state)
  await redis.del(...(await keysOf(redis, `${createGroupKeys(keys).forRun(run.run, 1).group('')}*`)))
  await one.writeFile(await sealedFile(12))
  expect(await listFiles(other)).toMatchObject([{ here: true, groups: 12 }])
  await expectWrittenOnce(other, 12)
})

it('a machine with another folder leaves a file to the one that began it', async () => {
  const file = await sealedFile(12)
  const elsewhere = open(mkdtempSync(join(data, 'other-')))
  const dumps = open()
  await expect(
    dumps.writeFile(file, (step) => {
      if (step === 'renamed') throw new Error('power is gone')
    }),
  ).rejects.toThrow('power is gone')
  await elsewhere.writeFile(file)
  expect(filesIn(elsewhere.folder.path)).toEqual([])
  await dumps.writeFile(file)
  await expectWrittenOnce(dumps, 12)
  expect((await listFiles(elsewhere))[0]?.here).toBe(false)
})

it('room that a killed process took is given back when the bytes are counted anew', async () => {
  const dumps = open(data, 1000)
  expect(await book.reserveBytes(900, 1000)).toBe(true)
  expect(await book.reserveBytes(200, 1000)).toBe(false)
  await book.recountBytes(0)
  expect(await book.readReservedBytes()).toBe(0)
  expect(await book.reserveBytes(900, 1000)).toBe(true)
  await book.releaseBytes(900)
  const file = await sealedFile(3)
  await dumps.writeFile(file)
  const [written] = await listFiles(dumps)
  await book.recountBytes(0)
  expect(await book.readReservedBytes()).toBe(written?.bytes)
})

it('counting anew does not free room that was just reserved', async () => {
  await book.reserveBytes(900, 1000)
  await book.recountBytes()
  expect(await book.readReservedBytes()).toBe(900)
  const count = book.recountBytes(0)
  await book.reserveBytes(50, 1000)
  await count
  expect(await book.readReservedBytes()).toBe(950)
})
