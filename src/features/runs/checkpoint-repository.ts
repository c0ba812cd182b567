/**
 * Reads checkpoints from Redis and writes them back. A restore writes the keys of the next epoch first, then starts
 * that epoch in one atomic step.
 */
import { randomUUID } from 'node:crypto'
import { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import type { ChainableCommander, Redis } from 'ioredis'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import type { Checkpoint, DiscardedCounts } from './checkpoint-document.ts'
import { endOfIssuedItems } from './checkpoint-issued-items.ts'
import { readIssuedItems, readSteps, writeIssuedItems } from './checkpoint-sequence.ts'
import type { EpochRepository } from './epoch-repository.ts'
import type { StoredFrontier } from './frontier/fold.ts'
import { parseEvidence } from './frontier/frontier-repository.ts'
import type { GroupEvidence } from './frontier/group-evidence.ts'
import { formatWeights, parseFrontier } from './frontier/stored-frontiers.ts'
import { type AllRunKeys, createRunKeys, type RunKeys } from './keys.ts'
import { groupFieldsByTask, type RunRepository, type StoredRun } from './repository.ts'
import { formatCurriculumState, runRecord, stepSumsRecord, taskSumsRecord } from './run-record.ts'
import { formatEvidenceList, parseEvidenceList } from './sequence/learnability.ts'
import { decodePositionState, encodeMadeState, encodeUnmadeState, type MadeItem } from './sequence/position-state.ts'

const startEpoch = defineScript({
  folder: import.meta.dirname,
  name: 'start-epoch',
  keys: ['run', 'discardedEpochs'],
  constants: { RUN: runRecord.constants },
})

/** The part of a checkpoint that comes from Redis, with the evidence that is not yet folded into its frontiers. */
export interface StoredCheckpoint
  extends Omit<Checkpoint, 'version' | 'engine' | 'created_at' | 'settings' | 'run' | 'curriculum'> {
  frontiers: Map<string, StoredFrontier>
  evidence: GroupEvidence[]
}

const CHUNK_SIZE = 1000

export class CheckpointRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #runs: RunRepository
  readonly #epochs: EpochRepository

  constructor(redis: Redis, keys: RedisKeys, { runs, epochs }: { runs: RunRepository; epochs: EpochRepository }) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#runs = runs
    this.#epochs = epochs
  }

  async read(run: StoredRun): Promise<StoredCheckpoint> {
    const keys = this.#keys.forRun(run.name, run.epoch)
    const replies = await this.#redis
      .multi()
      .hgetall(keys.run)
      .hgetall(keys.curriculum)
      .hgetall(keys.frontierWeights)
      .lrange(keys.frontierEvidence, 0, -1)
      .hgetall(keys.recentAccuracies)
      .hgetall(keys.learnability)
      .hgetall(keys.taskSums)
      .lrange(keys.curriculumHistory, 0, -1)
      .zrange(keys.openPositions, '0', '-1')
      .hgetall(keys.positionStates)
      .zrange(keys.leaseExpiries, '0', '-1', 'WITHSCORES')
      .hgetall(keys.leasedItems)
      .hgetall(keys.requestedPositions)
      .zrange(keys.metricSteps, '0', '-1')
      .zrange(keys.questions, '0', '-1', 'WITHSCORES')
      .zrange(keys.metricBlocks, '0', '-1')
      .exec()
    const [
      fields,
      curriculum,
      weights,
      evidence,
      accuracies,
      learnability,
      taskSums,
      history,
      open,
      states,
      leases,
      leased,
      requested,
      metricSteps,
      questions,
      metricBlocks,
    ] = (replies ?? []).map(([, value]) => value) as [
      RedisHash,
      RedisHash,
      RedisHash,
      string[],
      RedisHash,
      RedisHash,
      RedisHash,
      string[],
      string[],
      RedisHash,
      string[],
      RedisHash,
      RedisHash,
      string[],
      string[],
      string[],
    ] // in the order of the commands
    const values = runRecord.parse(fields)
    // Read in a second round trip, so that no single call blocks Redis for long. Items issued and positions assigned
    // since the first one are left out.
    const isOpen = new Set(open.map(Number))
    const opened = values.position ?? 0
    const wasIssued = (position: number) =>
      !isOpen.has(position) && !(position in requested) && position < Math.max(opened, values.requested_end ?? 0)
    const wasAssigned = (position: number) => !isOpen.has(position) && position < opened
    return {
      counters: runRecord.pickForCheckpoint(values),
      frontiers: new Map(Object.entries(curriculum).map(([task, json]) => [task, parseFrontier(json, weights[task])])),
      evidence: evidence.map(parseEvidence),
      recent_accuracies: mapValues(accuracies, (text) => text.split(',').map(Number)),
      learnability: mapValues(learnability, parseEvidenceList),
      tasks: mapValues(groupFieldsByTask(taskSums), (sums) =>
        taskSumsRecord.pickForCheckpoint(taskSumsRecord.parse(sums)),
      ),
      curriculum_history: history.toReversed().map((json) => CurriculumPoint.parse(JSON.parse(json))),
      sequence: {
        position: opened,
        open: open.map(Number),
        ...(run.explicitSettings.sampling === 'learnability' && {
          drawn: parseDrawnTasks({ ...states, ...requested }),
        }),
        ...(questions.length > 0 && { questions: mapValues(Object.fromEntries(groupInPairs(questions)), Number) }),
        leases: groupInPairs(leases).flatMap(([at, until]) => {
          const item = parseMadeItem(leased[at])
          return item ? [{ position: Number(at), until: Number(until), ...item }] : []
        }),
        requested: Object.keys(requested).map(Number),
        issued: await readIssuedItems(this.#redis, keys, wasIssued),
        steps: await readSteps(this.#redis, keys, wasAssigned),
      },
      step_sums: await Promise.all(
        metricSteps.map(async (step) => {
          const sums = stepSumsRecord.parse(await this.#redis.hgetall(keys.metricSums(Number(step))))
          return { step: Number(step), sums: stepSumsRecord.pickForCheckpoint(sums) }
        }),
      ),
      ...(metricBlocks.length > 0 && {
        block_sums: await Promise.all(
          metricBlocks.map(async (first) => {
            const sums = stepSumsRecord.parse(await this.#redis.hgetall(keys.blockSums(first)))
            return { first_group: Number(first), sums: stepSumsRecord.pickForCheckpoint(sums) }
          }),
        ),
      }),
    }
  }

  /** Counts what the run holds and a new epoch discards. */
  async countDiscardedState(run: StoredRun | undefined): Promise<DiscardedCounts> {
    if (!run) return { queued_groups: 0, buffered_groups: 0, open_batches: 0, prepared_items: 0, remembered_groups: 0 }
    const keys = this.#keys.forRun(run.name, run.epoch)
    const [queued, buffered, batches, prepared, remembered] = await Promise.all([
      this.#redis.zcard(keys.pendingGroups),
      this.#redis.zcard(keys.buffer),
      this.#redis.zcard(keys.openBatches),
      this.#redis.hlen(keys.itemBodies),
      this.#redis.zcard(keys.recentGroups),
    ])
    return {
      queued_groups: queued,
      buffered_groups: buffered,
      open_batches: batches,
      prepared_items: prepared,
      remembered_groups: remembered,
    }
  }

  /** Ends the epoch of `before` and starts another one. Returns false if another call did so first. */
  async restore(
    name: string,
    before: StoredRun | undefined,
    { settings, ...checkpoint }: Checkpoint,
  ): Promise<boolean> {
    await this.#runs.register(name) // lets the sweep find this attempt by name if it is interrupted
    const epoch = await this.#epochs.reserve(name)
    const keys = this.#keys.forRun(name, epoch)
    await this.#write(keys, checkpoint, fleetNow())
    const { issued, requested } = checkpoint.sequence
    const requestedEnd = requested.reduce((end, position) => Math.max(end, position + 1), endOfIssuedItems(issued))
    const fields = runRecord.format({
      ...checkpoint.counters,
      position: checkpoint.sequence.position,
      requested_end: requestedEnd,
      settings,
      configured_at: fleetNow(),
    })
    const args = [before?.epoch ?? 0, epoch, fleetNow(), randomUUID(), ...Object.entries(fields).flat()]
    const discardedEpochs = this.#keys.discardedEpochs(name)
    if ((await startEpoch(this.#redis, { ...keys, discardedEpochs }, args)) !== 1) return false
    await this.#runs.register(name) // registers again, because a sweep may have removed the unused name
    return true
  }

  async #write(keys: RunKeys, checkpoint: Omit<Checkpoint, 'settings'>, now: number): Promise<void> {
    const {
      curriculum,
      recent_accuracies,
      learnability = {},
      tasks,
      curriculum_history,
      sequence,
      step_sums,
      block_sums = [],
    } = checkpoint
    const pipeline = this.#redis.pipeline()
    const hash = (key: string, fields: Record<string, string | number>) => {
      for (const part of splitIntoChunks(Object.entries(fields))) pipeline.hset(key, Object.fromEntries(part))
    }
    const scored = (key: string, members: [score: number, member: number | string][]) => {
      for (const part of splitIntoChunks(members)) pipeline.zadd(key, ...part.flat())
    }
    for (const [task, { frontier, ...state }] of Object.entries(curriculum)) {
      if (frontier) {
        const { weights, ...estimate } = frontier
        hash(keys.curriculum, { [task]: formatCurriculumState({ ...state, frontier: estimate }) })
        hash(keys.frontierWeights, { [task]: formatWeights(weights) })
      } else hash(keys.curriculum, { [task]: formatCurriculumState(state) })
    }
    hash(
      keys.recentAccuracies,
      mapValues(recent_accuracies, (shares) => shares.join(',')),
    )
    hash(keys.learnability, mapValues(learnability, formatEvidenceList))
    for (const [task, sums] of Object.entries(tasks)) {
      const fields = Object.entries(taskSumsRecord.format(sums))
      hash(keys.taskSums, Object.fromEntries(fields.map(([field, sum]) => [`${task}:${field}`, sum])))
    }
    for (const part of splitIntoChunks(curriculum_history))
      pipeline.lpush(keys.curriculumHistory, ...part.map((point) => JSON.stringify(point)))
    scored(
      keys.openPositions,
      sequence.open.map((position) => [position, position]),
    )
    scored(
      keys.questions,
      Object.entries(sequence.questions ?? {}).map(([question, position]) => [position, question]),
    )
    // Requested positions become open ones. Requests wait for them, so that items are issued in the order of the
    // sequence.
    const drawn = new Map(sequence.drawn?.map(({ position, task }) => [position, task]))
    const toStates = (list: number[]) =>
      Object.fromEntries(list.map((at) => [at, encodeUnmadeState(now, drawn.get(at))]))
    hash(keys.positionStates, toStates(sequence.open))
    hash(keys.requestedPositions, toStates(sequence.requested))
    scored(
      keys.leaseExpiries,
      sequence.leases.map(({ position, until }) => [until, position]),
    )
    hash(keys.leasedItems, Object.fromEntries(sequence.leases.map((lease) => [lease.position, encodeMadeState(lease)])))
    writeIssuedItems(pipeline, keys, sequence)
    scored(
      keys.metricSteps,
      step_sums.map(({ step }) => [step, step]),
    )
    for (const { step, sums } of step_sums) hash(keys.metricSums(step), stepSumsRecord.format(sums))
    scored(
      keys.metricBlocks,
      block_sums.map(({ first_group }) => [first_group, first_group]),
    )
    for (const { first_group, sums } of block_sums) hash(keys.blockSums(first_group), stepSumsRecord.format(sums))
    await executePipeline(pipeline)
  }
}

type RedisHash = Record<string, string>

function mapValues<A, B>(record: Record<string, A>, convert: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value)]))
}

function parseDrawnTasks(states: RedisHash): { position: number; task: string }[] {
  return Object.entries(states).flatMap(([position, json]) => {
    const state = decodePositionState(json)
    const task = state.kind === 'made' ? state.item.task : state.task
    return task === undefined ? [] : [{ position: Number(position), task }]
  })
}

/** Returns undefined if the item is not made yet. */
function parseMadeItem(json: string | undefined): MadeItem | undefined {
  if (json === undefined) return undefined
  const state = decodePositionState(json)
  return state.kind === 'made' ? state.item : undefined
}

function groupInPairs(texts: string[]): [string, string][] {
  return Array.from({ length: texts.length / 2 }, (_, k) => [texts[2 * k] ?? '', texts[2 * k + 1] ?? ''])
}

function splitIntoChunks<T>(list: T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / CHUNK_SIZE) }, (_, k) =>
    list.slice(k * CHUNK_SIZE, (k + 1) * CHUNK_SIZE),
  )
}

async function executePipeline(pipeline: ChainableCommander): Promise<void> {
  for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
}
