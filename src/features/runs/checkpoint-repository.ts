/** Checkpoints out of and into Redis. Restoring writes the keys of the next epoch first, then begins it in one step. */
import { randomUUID } from 'node:crypto'
import type { ChainableCommander, Redis } from 'ioredis'
import type { Checkpoint, DiscardedCounts } from '../../contract/checkpoint.ts'
import type { CurriculumPoint } from '../../contract/run.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { type AllRunKeys, createRunKeys, type RunKeys } from './keys.ts'
import { createEpoch, type RunRepository, type StoredRun } from './repository.ts'
import { decodePositionState, encodeMadeState, encodeUnmadeState, type MadeItem } from './sequence/position-state.ts'

const startEpoch = defineScript({
  folder: import.meta.dirname,
  name: 'start-epoch',
  keys: ['run'],
})

/** What of Redis a checkpoint holds; who takes it adds what it knows itself. */
export type StoredCheckpoint = Omit<Checkpoint, 'format' | 'engine' | 'created_at' | 'settings' | 'run' | 'origin'>

/** Steps whose items a checkpoint holds: a trainer asks again for those it was at. */
const MAX_CHECKPOINT_STEPS = 16
const CHUNK_SIZE = 1000

export class CheckpointRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #runs: RunRepository

  constructor(redis: Redis, keys: RedisKeys, runs: RunRepository) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#runs = runs
  }

  async read(run: StoredRun): Promise<StoredCheckpoint> {
    const keys = this.#keys.forRun(run.name, run.epoch)
    const replies = await this.#redis
      .multi()
      .hgetall(keys.run)
      .hgetall(keys.curriculum)
      .hgetall(keys.recentAccuracies)
      .hgetall(keys.taskSums)
      .lrange(keys.curriculumHistory, 0, -1)
      .zrange(keys.openPositions, '0', '-1')
      .hgetall(keys.positionStates)
      .zrange(keys.leaseExpiries, '0', '-1', 'WITHSCORES')
      .hgetall(keys.leasedItems)
      .zrange(keys.steps, String(-MAX_CHECKPOINT_STEPS), '-1')
      .zrange(keys.metricSteps, '0', '-1')
      .exec()
    const [fields, curriculum, outcomes, tasks, history, open, heads, leases, leased, steps, metrics] = (
      replies ?? []
    ).map(([, value]) => value) as [
      RedisHash,
      RedisHash,
      RedisHash,
      RedisHash,
      string[],
      string[],
      RedisHash,
      string[],
      RedisHash,
      string[],
      string[],
    ] // as asked, in this order
    const counters = this.#runs.parseCounters(fields)
    const { position = 0, ...others } = counters
    return {
      counters: others,
      curriculum: Object.fromEntries(
        Object.entries(curriculum).map(([task, text]) => [task, parseCurriculumState(text)]),
      ),
      outcomes,
      tasks: parseNumericFields(tasks),
      history: history.toReversed().map((text) => JSON.parse(text) as CurriculumPoint), // written by complete-group
      sequence: {
        position,
        open: open.map(Number),
        ...(run.explicitSettings.sampling === 'learnability' && { drawn: parseDrawnTasks(heads) }),
        leases: groupInPairs(leases).flatMap(([at, until]) => {
          const item = parseMadeItem(leased[at])
          return item ? [{ position: Number(at), until: Number(until), ...item }] : []
        }),
        steps: await Promise.all(steps.map((step) => this.#readStep(keys, Number(step)))),
      },
      metrics: await Promise.all(
        metrics.map(async (step) => ({
          step: Number(step),
          sums: parseNumericFields(await this.#redis.hgetall(keys.metricSums(Number(step)))),
        })),
      ),
    }
  }

  /** What the run holds that a new epoch forgets. */
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

  /** Begins the epoch after `before`; false if somebody else began one meanwhile. */
  async restore(
    name: string,
    before: StoredRun | undefined,
    { settings, origin, ...checkpoint }: Checkpoint,
  ): Promise<boolean> {
    const epoch = before ? before.epoch + 1 : createEpoch()
    await this.#runs.deleteEpoch(name, epoch) // what an interrupted try has left
    const keys = this.#keys.forRun(name, epoch)
    await this.#write(keys, checkpoint, Date.now())
    const fields = {
      ...checkpoint.counters,
      position: checkpoint.sequence.position,
      settings: JSON.stringify(settings),
      origin,
    }
    const args = [before?.epoch ?? 0, epoch, Date.now(), randomUUID(), ...Object.entries(fields).flat()]
    if ((await startEpoch(this.#redis, keys, args)) !== 1) return false
    await this.#runs.register(name)
    if (before) await this.#runs.deleteEpoch(name, before.epoch)
    return true
  }

  async #write(keys: RunKeys, checkpoint: Omit<Checkpoint, 'settings' | 'origin'>, now: number): Promise<void> {
    const { curriculum, outcomes, tasks, history, sequence, metrics } = checkpoint
    const pipeline = this.#redis.pipeline()
    const hash = (key: string, fields: Record<string, string | number>) => {
      for (const part of splitIntoChunks(Object.entries(fields))) pipeline.hset(key, Object.fromEntries(part))
    }
    const scored = (key: string, members: [score: number, member: number][]) => {
      for (const part of splitIntoChunks(members)) pipeline.zadd(key, ...part.flat())
    }
    hash(
      keys.curriculum,
      Object.fromEntries(Object.entries(curriculum).map(([task, state]) => [task, JSON.stringify(state)])),
    )
    hash(keys.recentAccuracies, outcomes)
    hash(keys.taskSums, tasks)
    for (const part of splitIntoChunks(history))
      pipeline.lpush(keys.curriculumHistory, ...part.map((point) => JSON.stringify(point)))
    scored(
      keys.openPositions,
      sequence.open.map((position) => [position, position]),
    )
    // As if they were opened now: they are waited for, so that their items come in the order that they would have come in.
    const drawn = new Map(sequence.drawn?.map(({ position, task }) => [position, task]))
    hash(
      keys.positionStates,
      Object.fromEntries(sequence.open.map((at) => [at, encodeUnmadeState(now, drawn.get(at))])),
    )
    scored(
      keys.leaseExpiries,
      sequence.leases.map(({ position, until }) => [until, position]),
    )
    hash(keys.leasedItems, Object.fromEntries(sequence.leases.map((lease) => [lease.position, encodeMadeState(lease)])))
    scored(
      keys.steps,
      sequence.steps.map(({ step }, k) => [now - sequence.steps.length + k, step]), // in the order they were asked for in
    )
    for (const { step, items } of sequence.steps) {
      hash(keys.stepItems(step), Object.fromEntries(items.map((item) => [item.position, encodeStepItem(item, now)])))
    }
    scored(
      keys.metricSteps,
      metrics.map(({ step }) => [step, step]),
    )
    for (const { step, sums } of metrics) hash(keys.metricSums(step), sums)
    await executePipeline(pipeline)
  }

  async #readStep(keys: RunKeys, step: number): Promise<Checkpoint['sequence']['steps'][number]> {
    const states = Object.entries(await this.#redis.hgetall(keys.stepItems(step)))
    const items = states.map(([position, state]) => ({
      position: Number(position),
      ...(parseMadeItem(state) ?? { task: null, difficulty: null }),
    }))
    return { step, items: items.toSorted((a, b) => a.position - b.position) }
  }
}

type RedisHash = Record<string, string>

function parseNumericFields(fields: RedisHash): Record<string, number> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, Number(value)]))
}

/** Lua writes an empty list as an object. */
function parseCurriculumState(text: string): Checkpoint['curriculum'][string] {
  const state = JSON.parse(text) as Checkpoint['curriculum'][string] // written by complete-group
  return { ...state, scores: Array.isArray(state.scores) ? state.scores : [] }
}

function parseDrawnTasks(states: RedisHash): { position: number; task: string }[] {
  return Object.entries(states).flatMap(([position, json]) => {
    const state = decodePositionState(json)
    const task = state.kind === 'made' ? state.item.task : state.task
    return task === undefined ? [] : [{ position: Number(position), task }]
  })
}

/** Undefined if the item is not made yet. */
function parseMadeItem(json: string | undefined): MadeItem | undefined {
  if (json === undefined) return undefined
  const state = decodePositionState(json)
  return state.kind === 'made' ? state.item : undefined
}

function encodeStepItem({ task, difficulty }: { task: string | null; difficulty: number | null }, now: number): string {
  return task === null ? encodeUnmadeState(now) : encodeMadeState({ task, difficulty })
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
