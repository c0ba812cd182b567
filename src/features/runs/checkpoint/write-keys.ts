/**
 * Writes the keys of a restored checkpoint, a thousand entries at a time: neither Redis nor this process works on one
 * checkpoint for long while others wait.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChainableCommander, Redis } from 'ioredis'
import type { StatisticSums } from '../../../grading/group-statistics.ts'
import { splitList } from '../../../platform/split-list.ts'
import { formatCurriculumState, type RunKeys } from '../records.ts'
import { formatEvidenceList } from '../sequence/learnability.ts'
import { encodeMadeState, encodeUnmadeState } from '../sequence/position-state.ts'
import { packSums, sumsRecord } from '../sums.ts'
import type { Checkpoint } from './document.ts'
import { listIssuedItemWrites } from './issued-item-columns.ts'

/** Number of members, fields or list entries that one command writes, and that wait for one reply. */
const CHUNK_SIZE = 1000

/** Writes the keys of an epoch that has not started. */
export async function writeCheckpoint(
  redis: Redis,
  keys: RunKeys,
  checkpoint: Omit<Checkpoint, 'settings'>,
  now: number,
): Promise<void> {
  const { curriculum, recent_accuracies, learnability = {}, tasks, curriculum_history, sequence } = checkpoint
  const { mixes, marks = [], step_sums, block_sums = [] } = checkpoint
  const writer = new ChunkWriter(redis)
  for (const [task, { frontier, ...state }] of Object.entries(curriculum)) {
    if (frontier) {
      const { weights, ...estimate } = frontier
      await writer.hash(keys.curriculum, { [task]: formatCurriculumState({ ...state, frontier: estimate }) })
      await writer.hash(keys.frontierWeights, { [task]: weights })
    } else await writer.hash(keys.curriculum, { [task]: formatCurriculumState(state) })
  }
  await writer.hash(
    keys.recentAccuracies,
    mapValues(recent_accuracies, (shares) => shares.join(',')),
  )
  await writer.hash(keys.learnability, mapValues(learnability, formatEvidenceList))
  await writer.sums(keys.taskSums, Object.entries(tasks))
  for (const part of splitList(curriculum_history, CHUNK_SIZE)) {
    await writer.add(part.length, (pipeline) =>
      pipeline.lpush(keys.curriculumHistory, ...part.map((point) => JSON.stringify(point))),
    )
  }
  await writer.scored(
    keys.openPositions,
    sequence.open.map((position) => [position, position]),
  )
  await writer.scored(
    keys.questions,
    Object.entries(sequence.questions ?? {}).map(([question, position]) => [position, question]),
  )
  // Requested positions become open ones. Requests wait for them, so that items are issued in the order of the
  // sequence.
  const drawn = new Map(sequence.drawn?.map(({ position, ...task }) => [position, task]))
  const writeStates = async (key: string, positions: number[]) => {
    for (const part of splitList(positions, CHUNK_SIZE))
      await writer.hash(key, Object.fromEntries(part.map((at) => [at, encodeUnmadeState(now, drawn.get(at))])))
  }
  await writeStates(keys.positionStates, sequence.open)
  await writeStates(keys.requestedPositions, sequence.requested)
  for (const part of splitList(sequence.leases, CHUNK_SIZE)) {
    await writer.scored(
      keys.leaseExpiries,
      part.map(({ position, until }) => [until, position]),
    )
    await writer.hash(
      keys.leasedItems,
      Object.fromEntries(part.map((lease) => [lease.position, encodeMadeState(lease)])),
    )
  }
  for (const [entries, write] of listIssuedItemWrites(keys, sequence)) await writer.add(entries, write)
  await writer.list(keys.mixes, mixes)
  await writer.list(keys.marks, marks)
  const steps = step_sums.map(({ step, sums }) => [step, sums] as const)
  const blocks = block_sums.map(({ first_group, sums }) => [first_group, sums] as const)
  await writer.sums(keys.stepSums, steps, keys.metricSteps)
  await writer.sums(keys.blockSums, blocks, keys.metricBlocks)
  await writer.flush()
}

class ChunkWriter {
  readonly #redis: Redis
  #pipeline: ChainableCommander
  #waiting = 0

  constructor(redis: Redis) {
    this.#redis = redis
    this.#pipeline = redis.pipeline()
  }

  async hash(key: string, fields: Record<string, string | number>): Promise<void> {
    for (const part of splitList(Object.entries(fields), CHUNK_SIZE)) {
      await this.add(part.length, (pipeline) => pipeline.hset(key, Object.fromEntries(part)))
    }
  }

  /** `index`: a sorted set of the rows, which are numbers. */
  async sums(
    key: string,
    rows: (readonly [row: string | number, sums: Checkpoint['tasks'][string]])[],
    index?: string,
  ): Promise<void> {
    for (const [row, sums] of rows) {
      const fields = sumsRecord.format(sums) as StatisticSums // all of them are numbers
      await this.add(Object.keys(fields).length, (pipeline) => {
        pipeline.hset(key, row, packSums(fields))
        if (index) pipeline.zadd(index, row, row)
      })
    }
  }

  async list(key: string, entries: object[]): Promise<void> {
    if (entries.length === 0) return
    await this.add(entries.length, (pipeline) => pipeline.rpush(key, ...entries.map((entry) => JSON.stringify(entry))))
  }

  async scored(key: string, members: [score: number, member: number | string][]): Promise<void> {
    for (const part of splitList(members, CHUNK_SIZE)) {
      await this.add(part.length, (pipeline) => pipeline.zadd(key, ...part.flat()))
    }
  }

  /** Adds a command. `entries`: how many it writes. */
  async add(entries: number, write: (pipeline: ChainableCommander) => void): Promise<void> {
    write(this.#pipeline)
    this.#waiting += entries
    if (this.#waiting >= CHUNK_SIZE) await this.flush()
  }

  async flush(): Promise<void> {
    const pipeline = this.#pipeline
    this.#pipeline = this.#redis.pipeline()
    this.#waiting = 0
    for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
    await nextTurn()
  }
}

function mapValues<A, B>(record: Record<string, A>, convert: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value)]))
}
