/** Checkpoints out of and into Redis. Restoring writes the keys of the next epoch first, then begins it in one step. */
import { randomUUID } from 'node:crypto'
import type { ChainableCommander, Redis } from 'ioredis'
import type { Checkpoint, Forgotten } from '../words/checkpoint.ts'
import type { CurriculumPoint } from '../words/run.ts'
import type { Keys, RunKeys } from './keys.ts'
import { labelOf } from './positions.ts'
import { firstEpoch, type Runs, type StoredRun } from './runs.ts'
import { loadScript } from './script.ts'

const beginEpoch = loadScript('begin-epoch-1')

/** What of Redis a checkpoint holds; who takes it adds what it knows itself. */
export type StoredCheckpoint = Omit<Checkpoint, 'format' | 'engine' | 'created_at' | 'settings' | 'run' | 'origin'>

/** Steps whose items a checkpoint holds: a trainer asks again for those it was at. */
const STEPS = 16
const CHUNK = 1000

export class Checkpoints {
  readonly #redis: Redis
  readonly #keys: Keys
  readonly #runs: Runs

  constructor(redis: Redis, keys: Keys, runs: Runs) {
    this.#redis = redis
    this.#keys = keys
    this.#runs = runs
  }

  async read(run: StoredRun): Promise<StoredCheckpoint> {
    const keys = this.#keys.ofRun(run.name, run.epoch)
    const replies = await this.#redis
      .multi()
      .hgetall(keys.run)
      .hgetall(keys.curriculum)
      .hgetall(keys.outcomes)
      .hgetall(keys.tasks)
      .lrange(keys.history, 0, -1)
      .zrange(keys.open, '0', '-1')
      .hgetall(keys.heads)
      .zrange(keys.leases, '0', '-1', 'WITHSCORES')
      .hgetall(keys.leased)
      .zrange(keys.steps, String(-STEPS), '-1')
      .zrange(keys.metrics, '0', '-1')
      .exec()
    const [fields, curriculum, outcomes, tasks, history, open, heads, leases, leased, steps, metrics] = (
      replies ?? []
    ).map(([, value]) => value) as [
      Hash,
      Hash,
      Hash,
      Hash,
      string[],
      string[],
      Hash,
      string[],
      Hash,
      string[],
      string[],
    ] // as asked, in this order
    const counters = this.#runs.countersOf(fields)
    const { position = 0, ...others } = counters
    return {
      counters: others,
      curriculum: Object.fromEntries(Object.entries(curriculum).map(([task, text]) => [task, stateOf(text)])),
      outcomes,
      tasks: numbersOf(tasks),
      history: history.toReversed().map((text) => JSON.parse(text) as CurriculumPoint), // written by complete-group
      sequence: {
        position,
        open: open.map(Number),
        ...(run.named.sampling === 'learnability' && { drawn: drawnOf(heads) }),
        leases: pairs(leases).map(([at, until]) => ({
          position: Number(at),
          until: Number(until),
          ...placeOf(leased[at]),
        })),
        steps: await Promise.all(steps.map((step) => this.#step(keys, Number(step)))),
      },
      metrics: await Promise.all(
        metrics.map(async (step) => ({
          step: Number(step),
          sums: numbersOf(await this.#redis.hgetall(keys.metricsOf(Number(step)))),
        })),
      ),
    }
  }

  /** What the run holds that a new epoch forgets. */
  async held(run: StoredRun | undefined): Promise<Forgotten> {
    if (!run) return { queued_groups: 0, buffered_groups: 0, open_batches: 0, prepared_items: 0, remembered_groups: 0 }
    const keys = this.#keys.ofRun(run.name, run.epoch)
    const [queued, buffered, batches, prepared, remembered] = await Promise.all([
      this.#redis.zcard(keys.pending),
      this.#redis.zcard(keys.buffer),
      this.#redis.zcard(keys.openBatches),
      this.#redis.hlen(keys.bodies),
      this.#redis.zcard(keys.recent),
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
    const epoch = before ? before.epoch + 1 : firstEpoch()
    await this.#runs.forgetEpoch(name, epoch) // what an interrupted try has left
    const keys = this.#keys.ofRun(name, epoch)
    await this.#write(keys, checkpoint, Date.now())
    const fields = {
      ...checkpoint.counters,
      position: checkpoint.sequence.position,
      settings: JSON.stringify(settings),
      origin,
    }
    const args = [before?.epoch ?? 0, epoch, Date.now(), randomUUID(), ...Object.entries(fields).flat()]
    if ((await beginEpoch(this.#redis, [keys.run], args)) !== 1) return false
    await this.#runs.enlist(name)
    if (before) await this.#runs.forgetEpoch(name, before.epoch)
    return true
  }

  async #write(keys: RunKeys, checkpoint: Omit<Checkpoint, 'settings' | 'origin'>, now: number): Promise<void> {
    const { curriculum, outcomes, tasks, history, sequence, metrics } = checkpoint
    const pipeline = this.#redis.pipeline()
    const hash = (key: string, fields: Record<string, string | number>) => {
      for (const part of chunks(Object.entries(fields))) pipeline.hset(key, Object.fromEntries(part))
    }
    const scored = (key: string, members: [score: number, member: number][]) => {
      for (const part of chunks(members)) pipeline.zadd(key, ...part.flat())
    }
    hash(
      keys.curriculum,
      Object.fromEntries(Object.entries(curriculum).map(([task, state]) => [task, JSON.stringify(state)])),
    )
    hash(keys.outcomes, outcomes)
    hash(keys.tasks, tasks)
    for (const part of chunks(history)) pipeline.lpush(keys.history, ...part.map((point) => JSON.stringify(point)))
    scored(
      keys.open,
      sequence.open.map((position) => [position, position]),
    )
    // As if they were opened now: they are waited for, so that their items come in the order that they would have come in.
    const drawn = new Map(sequence.drawn?.map(({ position, task }) => [position, task]))
    hash(keys.heads, Object.fromEntries(sequence.open.map((at) => [at, `-${now}:0:0:${drawn.get(at) ?? ''}`])))
    scored(
      keys.leases,
      sequence.leases.map(({ position, until }) => [until, position]),
    )
    hash(keys.leased, Object.fromEntries(sequence.leases.map((lease) => [lease.position, placeText(lease)])))
    scored(
      keys.steps,
      sequence.steps.map(({ step }, k) => [now - sequence.steps.length + k, step]), // in the order they were asked for in
    )
    for (const { step, items } of sequence.steps) {
      hash(keys.step(step), Object.fromEntries(items.map((item) => [item.position, stepText(item)])))
    }
    scored(
      keys.metrics,
      metrics.map(({ step }) => [step, step]),
    )
    for (const { step, sums } of metrics) hash(keys.metricsOf(step), sums)
    await run(pipeline)
  }

  async #step(keys: RunKeys, step: number): Promise<Checkpoint['sequence']['steps'][number]> {
    const states = Object.entries(await this.#redis.hgetall(keys.step(step)))
    const items = states.map(([position, state]) => ({
      position: Number(position),
      ...(state.startsWith('-') ? { task: null, difficulty: null } : placeOf(state)),
    }))
    return { step, items: items.toSorted((a, b) => a.position - b.position) }
  }
}

type Hash = Record<string, string>

function numbersOf(fields: Hash): Record<string, number> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, Number(value)]))
}

/** Lua writes an empty list as an object. */
function stateOf(text: string): Checkpoint['curriculum'][string] {
  const state = JSON.parse(text) as Checkpoint['curriculum'][string] // written by complete-group
  return { ...state, scores: Array.isArray(state.scores) ? state.scores : [] }
}

/** From the states of open positions, as parts/plan.lua says. */
function drawnOf(heads: Hash): { position: number; task: string }[] {
  return Object.entries(heads).flatMap(([position, head]) => {
    const task = /^(?:-\d+:\d+:\d+:)?(\w+)/.exec(head)?.[1]
    return task ? [{ position: Number(position), task }] : []
  })
}

function placeOf(text = ''): { task: string; difficulty: number | null } {
  const [task = '', label = ''] = text.split('|')
  return { task, difficulty: labelOf(label) }
}

function placeText({ task, difficulty }: { task: string; difficulty: number | null }): string {
  return `${task}|${difficulty ?? ''}`
}

function stepText({ task, difficulty }: { task: string | null; difficulty: number | null }): string {
  return task === null ? '-0:0' : placeText({ task, difficulty })
}

function pairs(texts: string[]): [string, string][] {
  return Array.from({ length: texts.length / 2 }, (_, k) => [texts[2 * k] ?? '', texts[2 * k + 1] ?? ''])
}

function chunks<T>(list: T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / CHUNK) }, (_, k) => list.slice(k * CHUNK, (k + 1) * CHUNK))
}

async function run(pipeline: ChainableCommander): Promise<void> {
  for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
}
