/** Groups in Redis: accepted by one script, completed by another, so that what is accepted is scored once. */
import type { Redis } from 'ioredis'
import type { GroupResult } from '../scoring/group.ts'
import type { GroupFacts } from '../words/batch.ts'
import type { DumpKind } from '../words/dump.ts'
import type { Destination } from '../words/rollout.ts'
import { countersOf, stepSumsOf, sumsOf } from './group-figures.ts'
import type { Keys } from './keys.ts'
import { type About, type GroupTexts, type Packed, unpackAbout, unpackTexts } from './payload.ts'
import { loadScript } from './script.ts'

const acceptGroup = loadScript('accept-group-7')
const reopenGroup = loadScript('reopen-group-6')
const completeGroup = loadScript('complete-group-17')

const REMEMBERED_MS = 24 * 60 * 60 * 1000
/** Texts of a run's last groups that are kept for those who look. */
const KEPT_TEXTS_BYTES = 64 * 1024 * 1024
/** Groups of a run that can be tried again after their jobs failed. */
const FAILED_MAX = 1000
/** Points of a run's history; older ones are forgotten. */
const HISTORY_MAX = 100_000

/** Lines of a run that may wait for their file; above that its groups are not dumped. */
const DUMP_WAITING_BYTES = 512 * 1024 * 1024

/** What a group tells the curriculum of its task. */
export interface Feed {
  /** Of its item in the run's sequence: it counts if that was handed out. */
  position: number
  /** Mean score of the counted rollouts, before any penalty. */
  score: number
  /** Difficulty that the item was asked for at. */
  difficulty: number
  /** Accuracy that the curriculum aims at. */
  target: number
  /** Bounds of the level. */
  low: number
  high: number
}

/** Where a group is: its run, the run's epoch, its id in them. */
export interface GroupPlace {
  run: string
  epoch: number
  group: string
}

/** A group's line for the dump files that it goes to. */
export interface DumpOffer {
  uuid: string
  kinds: DumpKind[]
  /** Of the line; the record is the line compressed. */
  bytes: number
  record: Buffer
}

/** What a completion did. */
export interface Completed {
  /** For each kind of dump that was offered: how many records wait now, or that there is no room. */
  kept: (number | 'refused')[]
  /** The level of the task, if the group fed the curriculum. */
  level: { before: number; after: number } | undefined
}

export type Acceptance = 'new' | 'known' | 'conflict' | 'full' | 'changed'

/** A stored group; `about` and `result` are gone once it is no longer kept. */
export interface StoredGroup {
  status: 'queued' | 'scored' | 'failed'
  destination: Destination | null
  /** Whether it wants to wait for a trainer. */
  wants: boolean
  about: About | undefined
  result: GroupResult | undefined
}

/** A group that waits to be scored. */
export interface QueuedGroup {
  wants: boolean
  about: About
  texts: GroupTexts
}

/** What completing a group says besides its result. */
export interface Completion {
  /** Of the run's settings that it was judged by. */
  revision: number
  task: string
  result: GroupResult
  /** For a group that goes to the buffer. */
  facts: GroupFacts
  /** Its job failed, not its completions: it may be tried again. */
  retriable: boolean
  keep: number
  feed: Feed | undefined
  dump: DumpOffer | undefined
}

/** What a group is accepted under. */
export interface Bounds {
  /** Of the run's settings that they come from. */
  revision: number
  rollouts: number
  /** Whether it wants to wait for a trainer. */
  wants: boolean
  /** Groups queued, buffered and in open batches; binds those that want to wait. */
  most: number
  /** There is no room for any that is not known. */
  full: boolean
  /** Where its item stands in the run's sequence, if that has it. */
  lease: { position: number; task: string } | undefined
}

export class Groups {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  async accept(place: GroupPlace, { about, texts, arrays, hash }: Packed, bounds: Bounds): Promise<Acceptance> {
    const keys = this.#keys.ofRun(place.run, place.epoch)
    const ask = { epoch: place.epoch, now: Date.now(), ...bounds }
    const accepted = await acceptGroup(
      this.#redis,
      [keys.run, keys.group(place.group), keys.pending, keys.buffer, keys.stock, keys.leases, keys.leased],
      [place.group, hash, about, texts, arrays, JSON.stringify(ask)],
    )
    return accepted as Acceptance // the script gives one of these words
  }

  /** Undefined if it was completed before; `changed`, and nothing done, if the settings are no longer of that revision. */
  async complete(place: GroupPlace, completion: Completion): Promise<Completed | 'changed' | undefined> {
    const { revision, task, result, facts, retriable, keep, feed, dump } = completion
    const dumps = this.#keys.ofDumps(place.run, dump?.uuid ?? '')
    const keys = this.#keys.ofRun(place.run, place.epoch)
    const { curriculum, history } = keys
    const { status, destination } = result
    const now = new Date()
    const ask = {
      epoch: place.epoch,
      revision,
      status,
      signal: result.signal ?? false,
      destination: destination ?? undefined,
      retriable,
      task,
      now: now.getTime(),
      time: now.toISOString(),
      counters: countersOf(result),
      sums: sumsOf(task, result, facts),
      step_sums: stepSumsOf(facts, result),
      version: facts.version ?? undefined,
      share: result.percent_correct ?? undefined,
      rollouts: facts.rollouts,
      scored: facts.scored,
      metrics_prefix: keys.metricsOf(''),
      feed,
      dump: dump && { kinds: dump.kinds, bytes: dump.bytes, now: now.getTime(), most: DUMP_WAITING_BYTES },
      history_max: HISTORY_MAX,
      failed_max: FAILED_MAX,
      ...settling(this.#keys, place, keep),
    }
    const done = await completeGroup(
      this.#redis,
      [
        ...[keys.run, keys.group(place.group), keys.pending, keys.buffer, keys.recent, keys.tasks, curriculum, history],
        ...[keys.stock, keys.facts, keys.texts, keys.failed],
        ...[dumps.state, dumps.waiting('rollouts'), dumps.waiting('failed'), keys.outcomes, keys.metrics],
      ],
      [
        ...[place.group, JSON.stringify(result), JSON.stringify(facts), JSON.stringify(ask)],
        ...[this.#keys.completions, noticeOf(place), dump?.record ?? ''],
      ],
    )
    if (done === null) return undefined
    if (done === 'changed') return done
    const [kept, before, after] = done as [Completed['kept'], string, string] // as the script gives it
    return { kept, level: before === '' ? undefined : { before: Number(before), after: Number(after) } }
  }

  /** Makes a failed group pending again. False if it has not failed, or its rollouts are no longer kept. */
  async reopen({ run, epoch, group }: GroupPlace): Promise<boolean> {
    const keys = this.#keys.ofRun(run, epoch)
    const reopened = await reopenGroup(
      this.#redis,
      [keys.run, keys.group(group), keys.pending, keys.stock, keys.failed, keys.recent],
      [group, Date.now()],
    )
    return reopened === 1
  }

  async find(place: GroupPlace): Promise<StoredGroup | undefined> {
    const key = this.#keys.ofRun(place.run, place.epoch).group(place.group)
    const fields = ['status', 'wants', 'about', 'result', 'destination'] as const
    const [status, wants, about, result, whither] = await this.#redis.hmget(key, ...fields)
    if (!status) return undefined
    const destination = (whither || null) as Destination | null // written by the scripts, as is all else
    return {
      status: status as StoredGroup['status'],
      wants: wants === '1',
      destination,
      about: about ? unpackAbout(about) : undefined,
      result: result ? { ...(JSON.parse(result) as GroupResult), destination } : undefined,
    }
  }

  /** Undefined if it is done, or no longer kept. */
  async queued({ run, epoch, group }: GroupPlace): Promise<QueuedGroup | undefined> {
    const key = this.#keys.ofRun(run, epoch).group(group)
    const [status, wants, about, texts] = await this.#redis.hmgetBuffer(key, 'status', 'wants', 'about', 'texts')
    if (status?.toString() !== 'queued' || !about || !texts) return undefined
    return { wants: wants?.toString() === '1', about: unpackAbout(about), texts: unpackTexts(texts) }
  }

  /** The groups that are still kept, newest first, completed before `place` in the run's order. */
  async recent(run: string, epoch: number, before: number, most: number): Promise<{ group: string; place: number }[]> {
    const key = this.#keys.ofRun(run, epoch).recent
    const below = before === Number.POSITIVE_INFINITY ? '+inf' : `(${before}`
    const flat = await this.#redis.zrange(key, below, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, most, 'WITHSCORES')
    return Array.from({ length: flat.length / 2 }, (_, k) => ({
      group: flat[2 * k] ?? '',
      place: Number(flat[2 * k + 1]),
    }))
  }

  /** When the oldest group that is not done was accepted, ms; undefined if there is none. */
  async oldestPendingAt(run: string, epoch: number): Promise<number | undefined> {
    const [, time] = await this.#redis.zrange(this.#keys.ofRun(run, epoch).pending, '0', '0', 'WITHSCORES')
    return time === undefined ? undefined : Number(time)
  }

  /** Completions and conversations of a group, without its arrays; undefined once they are no longer kept. */
  async texts(place: GroupPlace): Promise<GroupTexts | undefined> {
    const texts = await this.#redis.hgetBuffer(this.#keys.ofRun(place.run, place.epoch).group(place.group), 'texts')
    return texts ? unpackTexts(texts) : undefined
  }

  /** Groups of a run that were accepted before `time` and are not done, oldest first. */
  pendingSince(run: string, epoch: number, time: number, most: number): Promise<string[]> {
    return this.#redis.zrangebyscore(this.#keys.ofRun(run, epoch).pending, 0, time, 'LIMIT', 0, most)
  }
}

export function noticeOf({ run, epoch, group }: GroupPlace): string {
  return `${run}/${epoch}/${group}`
}

/** Of the job that scores it; to be read in an address without escapes. */
export function jobIdOf({ run, epoch, group }: GroupPlace): string {
  return `${run}~${epoch}~${group}`
}

/** What `parts/settle.lua` is told. */
export function settling(keys: Keys, { run, epoch }: { run: string; epoch: number }, keep: number) {
  return {
    keep,
    keep_bytes: KEPT_TEXTS_BYTES,
    remembered: REMEMBERED_MS,
    group_prefix: keys.ofRun(run, epoch).group(''),
  }
}
