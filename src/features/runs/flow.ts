/**
 * The flow of a run: how fast groups move from generators to the trainer, which side waits, how stale groups become, and
 * what would raise the rate of batches. A composed batch leaves a sample of the run's counters, so a window is the
 * difference between two of them.
 */
import type { Flow, GroupMeans } from '@reasoning-gym-server/contract/flow'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { tryRead } from '../../platform/redis/unreadable-entries.ts'
import { type AllRunKeys, createRunKeys } from './records.ts'
import type { Runs } from './runs.ts'
import type { ResolvedRun } from './types.ts'

/** Samples that a run keeps. A window covers one batch less. */
export const MAX_FLOW_SAMPLES = 65
/** Counters of the run that a sample has. */
export const FLOW_COUNTERS = [
  'items',
  'groups',
  'completed',
  'batches',
  'stale_groups',
  'items_held_ms',
  'posts_held_ms',
  'trainer_waited_ms',
  'requested_steps',
  'leased_at_requests',
  'queued_at_requests',
  'buffered_at_requests',
  'batched_groups',
  'lagged_groups',
  'lag_sum',
] as const
type FlowCounters = Record<(typeof FLOW_COUNTERS)[number], number>

const FlowSample = z.object({
  at: z.number(),
  ...(Object.fromEntries(FLOW_COUNTERS.map((name) => [name, z.number()])) as Record<keyof FlowCounters, z.ZodNumber>), // one for each
})
type FlowSample = z.infer<typeof FlowSample>

type Figures = Omit<Flow, 'advice' | 'dropped_groups'>

/** A side that waits for a smaller share of the time does not hold up the other. */
const NOTABLE_WAIT = 0.1
/** Time after the last group or request for a batch from which on the run counts as paused, at least that of three batches. */
const PAUSED_AFTER_MS = 60_000
const PAUSED_AFTER_BATCHES = 3

export class RunFlow {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #runs: Pick<Runs, 'require'>

  constructor(redis: Redis, keys: RedisKeys, runs: Pick<Runs, 'require'>) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#runs = runs
  }

  /** Throws `unknown_run` and `run_recreated`. */
  async get(name: string, condition?: RunCondition): Promise<Flow> {
    const run = await this.#runs.require(name, condition)
    const { flowSamples: key, lagSums } = this.#keys.forRun(name, run.epoch)
    const [text, sums] = await Promise.all([this.#redis.lindex(key, -1), this.#redis.hgetall(lagSums)])
    const first = text ? tryRead(this.#redis, { key, name: '' }, () => FlowSample.parse(JSON.parse(text))) : undefined
    return { ...computeFlow(first, run, redisNow()), dropped_groups: describeDropped(sums) }
  }
}

/** Computes the flow between the first sample and now. A run that is paused counts up to the pause. */
export function computeFlow(
  first: FlowSample | undefined,
  { counters, settings }: Pick<ResolvedRun, 'counters' | 'settings'>,
  now: number,
): Omit<Flow, 'dropped_groups'> {
  const totals = Object.fromEntries(FLOW_COUNTERS.map((name) => [name, counters[name] ?? 0])) as FlowCounters // one for each
  const of = (name: keyof FlowCounters) => totals[name] - (first?.[name] ?? totals[name])
  const start = first?.at ?? now
  const batchMs = ratio((counters.last_batch_at ?? start) - start, of('batches')) ?? 0
  const activeAt = Math.max(start, counters.last_accepted_at ?? 0, counters.last_batch_request_at ?? 0)
  const end = Math.min(now, activeAt + Math.max(PAUSED_AFTER_MS, PAUSED_AFTER_BATCHES * batchMs))
  const ms = end - start
  const share = (name: 'items_held_ms' | 'posts_held_ms' | 'trainer_waited_ms', since = 0) =>
    ratio(of(name) + (since > 0 ? Math.max(0, end - Math.max(since, start)) : 0), ms) ?? 0
  const heldItems = share('items_held_ms', counters.items_held_since)
  const heldPosts = share('posts_held_ms', counters.posts_held_since)
  const requests = of('requested_steps')
  const leased = ratio(of('leased_at_requests'), requests)
  const queued = ratio(of('queued_at_requests'), requests)
  const buffered = ratio(of('buffered_at_requests'), requests)
  const batchedShare = ratio(of('batched_groups'), of('completed'))
  const figures: Figures = {
    batches: of('batches'),
    seconds: ms / 1000,
    rates: {
      items: ratio(of('items') * 1000, ms) ?? 0,
      groups: ratio(of('groups') * 1000, ms) ?? 0,
      batches: ratio(of('batches') * 1000, ms) ?? 0,
    },
    trainer_waiting: Math.min(1, share('trainer_waited_ms', counters.trainer_waiting_since)),
    trainer_wait_s: ratio(of('trainer_waited_ms') / 1000, of('batches')),
    generators_waiting: Math.min(1, Math.max(heldItems, heldPosts)),
    in_flight: leased === null || queued === null || buffered === null ? null : { leased, queued, buffered },
    batched_share: batchedShare === null ? null : Math.min(1, batchedShare),
    staleness: {
      measured: ratio(of('lag_sum'), of('lagged_groups')),
      predicted: null,
    },
    untrained_tokens: ratio(counters.untrained_tokens ?? 0, counters.generated_tokens ?? 0),
  }
  figures.staleness.predicted = predictStaleness(figures, ratio(of('batched_groups'), of('batches')))
  const stale = ratio(of('stale_groups'), of('completed')) ?? 0
  return { ...figures, advice: advise(figures, { settings, stale, isBufferFull: heldPosts > heldItems }) }
}

/**
 * Predicts the mean policy lag by Little's law, L = λW (J. D. C. Little, Operations Research 9, 1961), with versions of
 * the policy as the clock: each new version ages every group that is in flight by 1. So the sum of the lags of all
 * batched groups is the sum over the versions of the groups in flight that will be batched, and the mean lag is their
 * mean number, divided by the groups per batch. The version counts as new when the trainer requests its next batch.
 */
function predictStaleness({ in_flight: ahead, batched_share: share }: Figures, perBatch: number | null) {
  if (!ahead || share === null || perBatch === null) return null
  return ratio((ahead.leased + ahead.queued) * share + ahead.buffered, perBatch)
}

/** Finds what holds up the batches: first what lets the trainer wait, then what it lets wait. */
function advise(
  flow: Figures,
  { settings, stale, isBufferFull }: { settings: RunSettings; stale: number; isBufferFull: boolean },
): Flow['advice'] {
  const { trainer_waiting: trainer, generators_waiting: generators, in_flight: ahead, batched_share: batched } = flow
  const trainerWaits = `The trainer waits ${percent(trainer)} of the time`
  const generatorsWait = `generators wait ${percent(generators)} of the time`
  if (flow.batches === 0) return { kind: 'no_data', text: 'The figures begin with the second batch.' }
  const { measured, predicted } = flow.staleness
  if (trainer < NOTABLE_WAIT && generators < NOTABLE_WAIT && (predicted ?? 0) > 1.5 * (measured ?? Infinity) + 1)
    return {
      kind: 'set_max_groups_ahead',
      text: `Groups arrive faster than the trainer takes them, so their staleness grows from ${measured?.toFixed(1)} toward ${predicted?.toFixed(1)}: set \`max_groups_ahead\`, or raise the trainer’s batch rate.`,
    }
  if (trainer < NOTABLE_WAIT && generators < NOTABLE_WAIT)
    return { kind: 'balanced', text: 'Neither side waits for a notable share of the time.' }
  if (ahead && ahead.queued > 1 && ahead.queued > ahead.buffered && 2 * ahead.queued > ahead.leased)
    return {
      kind: 'add_workers',
      text: `${Math.round(ahead.queued)} groups wait to be scored, and the ${trainer > generators ? `trainer waits ${percent(trainer)} of the time` : generatorsWait}: add workers.`,
    }
  if (trainer < NOTABLE_WAIT)
    return {
      kind: 'speed_up_trainer',
      text: `The ${generatorsWait} for the trainer: raise the trainer’s batch rate, or use fewer generators; more groups ahead would only be staler.`,
    }
  if (stale > NOTABLE_WAIT)
    return {
      kind: 'less_stale',
      text: `${trainerWaits}, and ${percent(stale)} of the groups become stale: raise \`max_policy_lag\`, or lower \`max_groups_ahead\`.`,
    }
  if (generators >= NOTABLE_WAIT) {
    const limit = isBufferFull ? 'buffer_max_groups' : 'max_groups_ahead'
    return {
      kind: `raise_${limit}`,
      text: `${trainerWaits}, and ${generatorsWait}: raise \`${limit}\` (now ${settings[limit]}).`,
    }
  }
  if (batched !== null && batched < 0.5)
    return {
      kind: 'more_signal',
      text: `${trainerWaits}, and only ${percent(batched)} of the groups get into a batch: choose tasks and difficulties with more signal, or add generators.`,
    }
  return { kind: 'add_generators', text: `${trainerWaits} for groups: add generators, or shorten the completions.` }
}

/** `sums` are those of compose-batch.lua, by `TASK:FIELD`. */
function describeDropped(sums: Record<string, string>): Flow['dropped_groups'] {
  const total: Record<string, number> = {}
  const byTask: Record<string, Record<string, number>> = {}
  for (const [name, sum] of Object.entries(sums)) {
    const [task = '', field = ''] = name.split(':')
    byTask[task] = { ...byTask[task], [field]: Number(sum) }
    total[field] = (total[field] ?? 0) + Number(sum)
  }
  if (!total.dropped_groups) return null
  const describe = (of: Record<string, number>) => ({ kept: toMeans(of, 'kept'), dropped: toMeans(of, 'dropped') })
  const tasks = Object.entries(byTask).map(([task, of]) => [task, describe(of)] as const)
  return { ...describe(total), tasks: Object.fromEntries(tasks) }
}

function toMeans(sums: Record<string, number>, fate: 'kept' | 'dropped'): GroupMeans {
  const of = (field: string) => sums[`${fate}_${field}`] ?? 0
  const groups = of('groups')
  return {
    groups,
    difficulty: ratio(of('difficulty'), of('difficulties')),
    length_tokens: ratio(of('tokens'), of('lengths')),
    policy_lag: ratio(of('lag'), groups),
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}

function ratio(amount: number, of: number): number | null {
  return of > 0 ? amount / of : null
}
