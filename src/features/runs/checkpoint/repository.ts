/**
 * Reads checkpoints from Redis, and restores them: the keys of the next epoch are written first (write-keys.ts), then that
 * epoch starts in one atomic step.
 */

import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import { type ForkOrigin, RunMark, RunMix } from '@reasoning-gym-server/contract/run-control'
import { resolveSettings, type SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import { tryRead } from '../../../platform/redis/unreadable-entries.ts'
import { splitList } from '../../../platform/split-list.ts'
import { type GroupEvidence, parseEvidence, parseFrontier, type StoredFrontier } from '../curriculum/frontier-store.ts'
import type { EpochRepository } from '../epochs.ts'
import { isMarkUpTo } from '../marks.ts'
import { type AllRunKeys, createRunKeys, MAX_MIXES, type RunKeys, runRecord } from '../records.ts'
import { parseEntries, readHistoryPages } from '../repository.ts'
import { RunIndex } from '../run-index.ts'
import { parseEvidenceList } from '../sequence/learnability.ts'
import { type DrawnTask, decodePositionState } from '../sequence/position-state.ts'
import { isDeepEqual } from '../settings.ts'
import { readSums, sumsRecord, unpackSums } from '../sums.ts'
import type { StoredRun } from '../types.ts'
import type { Checkpoint, DiscardedCounts } from './document.ts'
import { endOfIssuedItems, readIssuedItems, readSteps } from './issued-item-columns.ts'
import { readStepState, type StepState } from './step-state.ts'
import { writeCheckpoint } from './write-keys.ts'

/** The part of a checkpoint that comes from Redis, with the evidence that is not yet folded into its frontiers. */
interface StoredCheckpoint
  extends Omit<Checkpoint, 'version' | 'engine' | 'created_at' | 'settings' | 'run' | 'curriculum'> {
  frontiers: Map<string, StoredFrontier>
  evidence: GroupEvidence[]
}

type Lease = Checkpoint['sequence']['leases'][number]

/** Number of members, fields or list entries that one command reads or writes. */
const CHUNK_SIZE = 1000
/** Limit of forks that a run lists. Older ones are dropped. */
const MAX_FORKS = 1000
/** Number of leases, or of requested positions, up to which they are part of the transaction. It takes a few milliseconds then. */
export const MAX_LEASES_AT_ONCE = 2000

export class CheckpointRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #index: RunIndex
  readonly #epochs: EpochRepository

  constructor(redis: Redis, keys: RedisKeys, epochs: EpochRepository) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#index = new RunIndex(redis, keys)
    this.#epochs = epochs
  }

  /**
   * Returns undefined if the run has changed since it was read: another epoch, or other settings.
   *
   * One transaction reads what must belong together. Lists that may be long follow in pages, so that no single call
   * blocks Redis for long. Of these, what was added since the transaction is left out. A lease of a long list that ends
   * in the meantime is left out too, as if its group had been accepted just before.
   *
   * With `then`, returns what it was in that recorded state.
   */
  async read(run: StoredRun, then?: StepState): Promise<StoredCheckpoint | undefined> {
    const keys = this.#keys.forRun(run.name, run.epoch)
    const snapshot = await this.#readSnapshot(keys, then?.replies, {
      withLeases: (await this.#redis.zcard(keys.leaseExpiries)) <= MAX_LEASES_AT_ONCE,
      withRequested: (await this.#redis.hlen(keys.requestedPositions)) <= MAX_LEASES_AT_ONCE,
    })
    const { values, open, states, historyLength } = snapshot
    if (!isCurrent(run, values)) return undefined
    const isOpen = new Set(open.map(Number))
    const opened = values.position ?? 0
    const end = Math.max(opened, values.requested_end ?? 0)
    // must come before the issued items: a position that is issued in between is in the checkpoint as requested
    const requested = snapshot.requested ?? (await this.#readRequested(keys, end))
    const isLater = (position: number) => isOpen.has(position) || then?.handedOut.has(String(position)) === true
    const wasIssued = (position: number) => !isLater(position) && !(position in requested) && position < end
    const wasAssigned = (position: number) => !isLater(position) && position < opened
    const leases = snapshot.leases ?? (await this.#readLeases(keys, wasAssigned))
    const questions = await this.#readQuestions(keys, then ? wasIssued : (position) => position < opened)
    const readRows = async (rows: string[], key: string) => {
      const now: ReturnType<typeof pickSums>[] = []
      for await (const sums of readSums(this.#redis, key, rows)) now.push(pickSums(sums)) // other calls come between the reads
      const changed = then && (await this.readStepState(run, then.step))?.rows // after the sums: also of what has just changed
      const before = changed?.[key.slice(key.lastIndexOf(':') + 1)]
      return rows.map((row, k) => {
        const earlier = before?.[row]
        return [Number(row), (earlier ? pickSums(earlier) : now[k]) ?? {}] as const
      })
    }
    const blockSums = await readRows(snapshot.metricBlocks, keys.blockSums)
    const marks = await this.#readMarks(keys, then?.step)
    const checkpoint = {
      counters: runRecord.pickForCheckpoint(values),
      frontiers: snapshot.frontiers,
      evidence: snapshot.evidence,
      recent_accuracies: snapshot.accuracies,
      learnability: snapshot.learnability,
      tasks: snapshot.tasks,
      curriculum_history: await this.#readHistory(keys, historyLength),
      sequence: {
        position: opened,
        open: open.map(Number),
        ...(run.explicitSettings.sampling === 'learnability' && {
          drawn: parseDrawnTasks({ ...states, ...requested }),
        }),
        ...(Object.keys(questions).length > 0 && { questions }),
        leases,
        requested: Object.keys(requested).map(Number),
        issued: await readIssuedItems(this.#redis, keys, wasIssued),
        steps: await readSteps(this.#redis, keys, wasAssigned),
      },
      mixes: await this.#readMixes(keys, values.mixes ?? 0),
      ...(marks.length > 0 && { marks }),
      step_sums: (await readRows(snapshot.metricSteps, keys.stepSums)).map(([step, sums]) => ({ step, sums })),
      ...(blockSums.length > 0 && { block_sums: blockSums.map(([first_group, sums]) => ({ first_group, sums })) }),
    }
    const fields = await this.#redis.hgetall(keys.run)
    return isCurrent(run, runRecord.parse(fields)) ? checkpoint : undefined
  }

  /** Returns the state after a step, or after the latest step before it, or undefined if none is kept. */
  readStepState(run: StoredRun, step: number): Promise<StepState | undefined> {
    return readStepState(this.#redis, this.#keys, run, step)
  }

  /** Returns the mix of tasks that the run had after a step, or undefined if no such state is kept. */
  async readMix(run: StoredRun, step: number): Promise<RunMix | undefined> {
    const [fields] = (await this.readStepState(run, step))?.replies ?? []
    if (fields === undefined) return undefined
    const { mixes = 0 } = runRecord.parse(fields as RedisHash)
    return (await this.#readMixes(this.#keys.forRun(run.name, run.epoch), mixes)).at(-1)
  }

  async #readSnapshot(
    keys: RunKeys,
    repliesThen: unknown[] | undefined,
    { withLeases, withRequested }: { withLeases: boolean; withRequested: boolean },
  ) {
    const transaction = this.#redis
      .multi()
      .hgetall(keys.run)
      .hgetall(keys.curriculum)
      .hgetall(keys.frontierWeights)
      .lrange(keys.frontierEvidence, 0, -1)
      .hgetall(keys.recentAccuracies)
      .hgetall(keys.learnability)
      .hgetallBuffer(keys.taskSums)
      .llen(keys.curriculumHistory)
      .zrange(keys.openPositions, '0', '-1')
      .hgetall(keys.positionStates)
      .zrange(keys.metricSteps, '0', '-1')
      .zrange(keys.metricBlocks, '0', '-1')
    if (withRequested) transaction.hgetall(keys.requestedPositions)
    if (withLeases) transaction.zrange(keys.leaseExpiries, '0', '-1', 'WITHSCORES').hgetall(keys.leasedItems)
    const replies = repliesThen?.slice() ?? ((await transaction.exec()) ?? []).map(([, value]) => value)
    // in the order of the commands
    const takeHash = () => replies.shift() as RedisHash
    const takeList = () => [replies.shift()].flat().filter((entry) => typeof entry === 'string') // Lua writes an empty list as an object
    const values = runRecord.parse(takeHash())
    const curriculum = takeHash()
    const weights = takeHash()
    const read = <T>(key: string, name: string, parse: () => T) => tryRead(this.#redis, { key, name }, parse) ?? []
    const evidence = takeList().flatMap((text) => read(keys.frontierEvidence, '', () => parseEvidence(text)))
    const accuracies = mapValues(takeHash(), (text) => text.split(',').map(Number))
    const learnability = mapValues(takeHash(), parseEvidenceList)
    const taskSums = replies.shift() as Record<string, Buffer | RedisHash> // a state has them unpacked
    const historyLength = replies.shift() as number
    const open = takeList()
    const states = takeHash()
    const metricSteps = takeList()
    const metricBlocks = takeList()
    const requested = withRequested ? takeHash() : undefined
    const expiries = withLeases ? splitList(takeList(), 2) : undefined
    const leased = withLeases ? takeHash() : {}
    return {
      values,
      frontiers: new Map(
        Object.entries(curriculum).flatMap(([task, json]): [string, StoredFrontier][] => {
          const frontiers = [read(keys.curriculum, task, () => parseFrontier(json, weights[task]))].flat()
          return frontiers.map((frontier) => [task, frontier])
        }),
      ),
      evidence,
      accuracies,
      learnability,
      tasks: mapValues(taskSums, (sums) => pickSums(Buffer.isBuffer(sums) ? unpackSums(sums) : sums)),
      historyLength,
      open,
      states,
      requested,
      metricSteps,
      metricBlocks,
      leases: expiries?.flatMap(([at = '', until = '']) => parseLease(at, until, leased[at])),
    }
  }

  /** Reads the states of the requested positions below `end`. */
  async #readRequested(keys: RunKeys, end: number): Promise<RedisHash> {
    const states: RedisHash = {}
    for (let cursor = ''; cursor !== '0'; ) {
      const [next, texts] = await this.#redis.hscan(keys.requestedPositions, cursor || '0', 'COUNT', CHUNK_SIZE)
      for (const [position = '', state = ''] of splitList(texts, 2))
        if (Number(position) < end) states[position] = state
      cursor = next
    }
    return states
  }

  /** Reads the leases of the positions that `includes` accepts. */
  async #readLeases(keys: RunKeys, includes: (position: number) => boolean): Promise<Lease[]> {
    const leases = new Map<string, Lease>()
    for await (const page of this.#scan(keys.leaseExpiries)) {
      const wanted = page.filter(([at]) => includes(Number(at)))
      if (wanted.length === 0) continue
      const items = await this.#redis.hmget(keys.leasedItems, ...wanted.map(([at]) => at))
      for (const [k, [at, until]] of wanted.entries())
        for (const lease of parseLease(at, until, items[k] ?? undefined)) leases.set(at, lease)
    }
    return [...leases.values()].toSorted((a, b) => a.until - b.until)
  }

  /** Reads the questions of the positions that `includes` accepts. */
  async #readQuestions(keys: RunKeys, includes: (position: number) => boolean): Promise<Record<string, number>> {
    const questions: Record<string, number> = {}
    for await (const page of this.#scan(keys.questions))
      for (const [hash, position] of page) if (includes(Number(position))) questions[hash] = Number(position)
    return questions
  }

  /** Yields the members and scores of a sorted set. It may repeat a member that is added in the meantime. */
  async *#scan(key: string): AsyncGenerator<[member: string, score: string][]> {
    let cursor = '0'
    do {
      const [next, texts] = await this.#redis.zscan(key, cursor, 'COUNT', CHUNK_SIZE)
      yield splitList(texts, 2) as [string, string][] // as ZSCAN replies
      cursor = next
    } while (cursor !== '0')
  }

  async #readHistory(keys: RunKeys, length: number): Promise<CurriculumPoint[]> {
    const pages: CurriculumPoint[][] = []
    for await (const page of readHistoryPages(this.#redis, keys.curriculumHistory, length)) pages.push(page)
    return pages.flat()
  }

  /** Reads the mixes up to that number. */
  async #readMixes(keys: RunKeys, last: number): Promise<RunMix[]> {
    const mixes = parseEntries(this.#redis, keys.mixes, await this.#redis.lrange(keys.mixes, 0, -1), RunMix)
    return mixes.filter(({ number }) => number <= last)
  }

  async #readMarks(keys: RunKeys, step = Number.POSITIVE_INFINITY): Promise<RunMark[]> {
    const marks = parseEntries(this.#redis, keys.marks, await this.#redis.lrange(keys.marks, 0, -1), RunMark)
    return marks.filter((mark) => isMarkUpTo(mark, step))
  }

  /** Lists a run among the forks of another one, before it exists. Each view of that run reads those that are listed. */
  async addFork({ name, epoch }: StoredRun, fork: string): Promise<void> {
    const { forks } = this.#keys.forRun(name, epoch)
    await this.#redis
      .multi()
      .zadd(forks, redisNow(), fork)
      .zremrangebyrank(forks, 0, -MAX_FORKS - 1)
      .exec()
  }

  /** Counts what the run holds and a new epoch discards. */
  async countDiscardedState(run: StoredRun | undefined): Promise<DiscardedCounts> {
    const { name, epoch } = run ?? { name: '', epoch: 0 } // no run has this name, so nothing is counted
    const keys = this.#keys.forRun(name, epoch)
    return {
      queued_groups: await this.#redis.zcard(keys.pendingGroups),
      buffered_groups: await this.#redis.zcard(keys.buffer),
      open_groups: await this.#redis.zcard(keys.openGroups),
      open_batches: await this.#redis.zcard(keys.openBatches),
      prepared_items: await this.#redis.hlen(keys.itemBodies),
      remembered_groups: await this.#redis.zcard(keys.retainedGroups),
    }
  }

  /** Ends the epoch of `before` and starts another one. Returns false if another call did so first. */
  async restore(
    name: string,
    before: StoredRun | undefined,
    { settings, ...checkpoint }: Checkpoint,
    forkedFrom?: ForkOrigin,
  ): Promise<boolean> {
    await this.#index.register(name) // lets the sweep find this attempt by name if it is interrupted
    const epoch = await this.#epochs.reserve(name)
    const keys = this.#keys.forRun(name, epoch)
    const mixes = continueMixes(checkpoint, settings)
    await writeCheckpoint(this.#redis, keys, { ...checkpoint, mixes }, redisNow())
    const { issued, requested } = checkpoint.sequence
    const { step } = checkpoint.counters
    const requestedEnd = requested.reduce((end, position) => Math.max(end, position + 1), endOfIssuedItems(issued))
    const fields = runRecord.format({
      ...(step !== undefined && { steps_named_by: 'ends', named_step: step }), // checkpoints of earlier versions lack them
      ...checkpoint.counters,
      mixes: mixes.at(-1)?.number,
      position: checkpoint.sequence.position,
      requested_end: requestedEnd,
      settings,
      configured_at: redisNow(),
      forked_from: forkedFrom ?? before?.forkedFrom,
    })
    if (!(await this.#epochs.start(name, before, epoch, fields))) return false
    await this.#index.register(name) // registers again, because a sweep may have removed the unused name
    return true
  }
}

/** Adds a mix to those of a checkpoint if its settings were edited since: what it opens again is drawn from their tasks. */
function continueMixes(
  { mixes, sequence, counters }: Omit<Checkpoint, 'settings'>,
  settings: SettingsChange,
): RunMix[] {
  const { tasks, exclude } = resolveSettings(settings)
  const last = mixes.at(-1)
  if (last && isDeepEqual([last.tasks, last.exclude], [tasks, exclude])) return mixes
  const { position: opened, open, requested } = sequence
  const position = [...open, ...requested].reduce((first, at) => Math.min(first, at), opened)
  const at = new Date(redisNow()).toISOString()
  const next = { number: (last?.number ?? -1) + 1, position, step: counters.step ?? null, at, tasks, exclude }
  return [...mixes, next].slice(-MAX_MIXES)
}

type RedisHash = Record<string, string>

function pickSums(sums: Readonly<Record<string, string | number>>) {
  return sumsRecord.pickForCheckpoint(sumsRecord.parse(sums))
}

function mapValues<A, B>(record: Record<string, A>, convert: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value)]))
}

function parseDrawnTasks(states: RedisHash): ({ position: number } & DrawnTask)[] {
  return Object.entries(states).flatMap(([position, json]) => {
    const drawn = decodePositionState(json)?.drawn
    return drawn ? [{ position: Number(position), ...drawn }] : []
  })
}

function isCurrent(run: StoredRun, { epoch, revision }: { epoch?: number; revision?: number }): boolean {
  return epoch === run.epoch && revision === run.revision
}

/** Returns an empty list if the lease has ended. */
function parseLease(position: string, until: string, json: string | undefined): Lease[] {
  const state = json === undefined ? undefined : decodePositionState(json)
  return state?.kind === 'made' ? [{ position: Number(position), until: Number(until), ...state.item }] : []
}
