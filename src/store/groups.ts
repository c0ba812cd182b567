/** Groups in Redis: accepted by one script, completed by another, so that what is accepted is scored once. */
import type { Redis } from 'ioredis'
import type { GroupResult } from '../scoring/group.ts'
import type { GroupInput } from '../words/rollout.ts'
import type { Keys } from './keys.ts'
import { loadScript } from './script.ts'

const acceptGroup = loadScript('accept-group-4')
const completeGroup = loadScript('complete-group-8')

const REMEMBERED_MS = 24 * 60 * 60 * 1000

/** Points of a run's history; older ones are forgotten. */
const HISTORY_MAX = 100_000

/** What a group tells the curriculum of its task. */
export interface Feed {
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

export type Acceptance = 'new' | 'known' | 'conflict' | 'full' | 'epoch'

/** A stored group; `input` and `result` are gone once it is no longer kept. */
export interface StoredGroup {
  status: 'queued' | 'scored' | 'failed'
  input: GroupInput | undefined
  result: GroupResult | undefined
}

export class Groups {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** `bound`: most groups queued and buffered; 0 for none. */
  async accept(place: GroupPlace, contentHash: string, input: GroupInput, bound: number): Promise<Acceptance> {
    const keys = this.#keys.ofRun(place.run, place.epoch)
    const accepted = await acceptGroup(
      this.#redis,
      [keys.run, keys.group(place.group), keys.pending, keys.buffer],
      [place.group, contentHash, JSON.stringify(input), Date.now(), place.epoch, bound, input.rollouts.length],
    )
    return accepted as Acceptance // the script gives one of these words
  }

  /** False if it was completed before. */
  async complete(place: GroupPlace, task: string, result: GroupResult, keep: number, feed?: Feed): Promise<boolean> {
    const keys = this.#keys.ofRun(place.run, place.epoch)
    const counters = Object.entries(countersOf(result))
    const done = await completeGroup(
      this.#redis,
      [
        keys.run,
        keys.group(place.group),
        keys.pending,
        keys.buffer,
        keys.recent,
        keys.tasks,
        keys.curriculum,
        keys.history,
      ],
      [
        place.group,
        JSON.stringify(result),
        result.status,
        result.destination ?? '',
        REMEMBERED_MS,
        keep,
        this.#keys.completions,
        noticeOf(place),
        keys.group(''),
        task,
        feed?.score ?? '',
        feed?.difficulty ?? '',
        feed?.target ?? '',
        feed?.low ?? '',
        feed?.high ?? '',
        new Date().toISOString(),
        HISTORY_MAX,
        counters.length,
        ...counters.flat(),
        ...sumsOf(task, result).flat(),
      ],
    )
    return done === 1
  }

  async find(place: GroupPlace): Promise<StoredGroup | undefined> {
    const key = this.#keys.ofRun(place.run, place.epoch).group(place.group)
    const [status, input, result] = await this.#redis.hmget(key, 'status', 'input', 'result')
    if (!status) return undefined
    return {
      status: status as StoredGroup['status'], // written by the two scripts
      input: input ? (JSON.parse(input) as GroupInput) : undefined,
      result: result ? (JSON.parse(result) as GroupResult) : undefined,
    }
  }

  /** When the oldest group that is not done was accepted, ms; undefined if there is none. */
  async oldestPendingAt(run: string, epoch: number): Promise<number | undefined> {
    const [, time] = await this.#redis.zrange(this.#keys.ofRun(run, epoch).pending, '0', '0', 'WITHSCORES')
    return time === undefined ? undefined : Number(time)
  }

  /** Groups of a run that were accepted before `time` and are not done, oldest first. */
  pendingSince(run: string, epoch: number, time: number, most: number): Promise<string[]> {
    return this.#redis.zrangebyscore(this.#keys.ofRun(run, epoch).pending, 0, time, 'LIMIT', 0, most)
  }
}

export function noticeOf({ run, epoch, group }: GroupPlace): string {
  return `${run}/${epoch}/${group}`
}

function countersOf({ status, verdicts, signal, destination, mean_score }: GroupResult): Record<string, number> {
  const counters: Record<string, number> = { [`${status}_groups`]: 1 }
  const add = (name: string) => {
    counters[name] = (counters[name] ?? 0) + 1
  }
  if (destination === 'no_signal' && !signal) add((mean_score ?? 0) >= 0.5 ? 'no_signal_easy' : 'no_signal_hard')
  for (const verdict of verdicts) {
    if (verdict.status === 'unscored') add('unscored')
    else if (verdict.fault) add(`fault:${verdict.fault}`)
  }
  return counters
}

function sumsOf(task: string, { verdicts, signal }: GroupResult): [string, number][] {
  const scored = verdicts.filter((verdict) => verdict.status === 'scored')
  const sum = (field: 'score' | 'reward') => scored.reduce((total, verdict) => total + verdict[field], 0)
  return [
    [`${task}:groups`, 1],
    [`${task}:rollouts`, scored.length],
    [`${task}:score`, sum('score')],
    [`${task}:reward`, sum('reward')],
    [`${task}:signal`, signal ? 1 : 0],
  ]
}
