/**
 * Streams a batch as JSON in slices. A reader holds one slice and the group that it comes from. The group's memory is
 * reserved and shared with the group's other readers. A slice is a copy, so a group can be freed once its last slice is
 * made.
 */
import type {
  BatchTotals,
  GroupSummary,
  PolicyLag,
  RankSlice,
  RolloutSummary,
  StoredBatch,
} from '@reasoning-gym-server/contract/batch'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { computeGroupMetrics, omitUnknown, sumGroups } from '../../grading/group-statistics.ts'
import { mean, percentile, populationStd } from '../../grading/statistics.ts'
import type { DownloadLimiter, ReplyReader } from '../../platform/client-memory/download-limiter.ts'
import { EventLoopBudget } from '../../platform/event-loop-budget.ts'
import type { ArrayEncoding } from '../rollouts/group-payload.ts'
import type { BatchRepository, RunRef } from './repository.ts'
import { type UnpackedGroup, type UnpackedGroupHandle, UnpackedGroups } from './unpacked-groups.ts'

const SLICE_BYTES = 64 * 1024
const MAX_CHARACTER_BYTES = 4
const MAX_UTF8_BYTES_PER_CHAR = 3
const ENCODER = new TextEncoder()

/** One read of a batch: its run, the rank's slice, the encoding of arrays, and the client that reads it. */
export interface BatchReading {
  run: RunRef
  batch: StoredBatch
  rankSlice: RankSlice | undefined
  encoding: ArrayEncoding
  reader: ReplyReader
  /** Layout of the output. If undefined, the output is the JSON of `Batch`. */
  layout?: BatchLayout
}

/** Another form of a batch: the text before and after its groups, and the conversion of each group. */
export interface BatchLayout {
  head: string
  tail: string
  formatGroup(group: UnpackedGroup, indices: number[], steps: EventLoopBudget): Promise<string>
}

export class BatchStreams {
  readonly #memory: DownloadLimiter
  readonly #groups: UnpackedGroups
  readonly #steps = new EventLoopBudget()

  constructor(batches: BatchRepository, memory: DownloadLimiter) {
    this.#memory = memory
    this.#groups = new UnpackedGroups(batches, memory, this.#steps)
  }

  /**
   * Streams the JSON of a batch or of a rank's slice. Throws `server_busy` if no memory for a group is available in
   * time, and `batch_acknowledged` if the batch is acknowledged while it is read. If that happens midway, the response
   * breaks off.
   */
  async *stream({ run, batch, rankSlice, encoding, reader, layout }: BatchReading): AsyncGenerator<Buffer> {
    const portions = rankSlice ? computeRankSlice(batch, rankSlice) : listGroupSlices(batch)
    const out = new ReplySlices(this.#steps)
    const begin = (k: number) => {
      const portion = portions[k]
      return portion && this.#groups.unpack(run, portion.group.id, encoding)
    }
    let next: UnpackedGroupHandle | undefined
    let current = begin(0)
    try {
      yield* out.add(layout?.head ?? buildHead(run, batch, portions))
      for (const [k, { indices }] of portions.entries()) {
        if (!current) break // there is one for each portion
        next = begin(k + 1) // starts while the current one is sent
        const group = await this.#memory.waitFor(reader, current.group)
        if (!group) throw createAcknowledgedError(batch.step)
        const release = this.#memory.hold(reader)
        try {
          if (k > 0) yield* out.add(',')
          if (layout) yield* out.add(await layout.formatGroup(group, indices, this.#steps))
          else yield* this.#formatGroup(out, group, indices)
        } finally {
          release()
          current.close()
        }
        current = next
        next = undefined
      }
      yield* out.add(layout?.tail ?? ']}')
      yield* out.end()
    } finally {
      current?.close()
      next?.close()
    }
  }

  async *#formatGroup(out: ReplySlices, group: UnpackedGroup, indices: number[]): AsyncGenerator<Buffer> {
    yield* out.add(openObject(group.describe(indices)))
    const extra = await this.#steps.run(() => group.formatExtra())
    if (extra !== undefined) yield* out.add(`,"extra":${extra}`)
    yield* out.add(',"verdicts":[')
    yield* this.#formatList(out, indices, (k) => group.formatVerdict(k))
    yield* out.add('],"rollouts":[')
    yield* this.#formatList(out, indices, (k) => group.formatRollout(k))
    yield* out.add(']}')
  }

  async *#formatList(
    out: ReplySlices,
    indices: number[],
    format: (index: number) => string | undefined,
  ): AsyncGenerator<Buffer> {
    let separator = ''
    for (const index of indices) {
      const piece = await this.#steps.run(() => format(index))
      if (piece === undefined) continue
      if (!out.append(separator)) yield* out.add(separator)
      if (!out.append(piece)) yield* out.add(piece)
      separator = ','
    }
  }
}

function buildHead(run: RunRef, batch: StoredBatch, portions: GroupSlice[]): string {
  const head = {
    run: run.name,
    step: batch.step,
    sequences: countSequences(portions),
    totals: computeBatchTotals(batch),
    lag: computePolicyLag(batch),
    metrics: computeBatchMetrics(batch),
  }
  return `${openObject(head)},"groups":[`
}

/** Returns JSON without the closing brace. */
function openObject(value: object): string {
  return JSON.stringify(value).slice(0, -1)
}

function createAcknowledgedError(step: number): ServiceError {
  return new ServiceError('batch_acknowledged', `The batch of step ${step} was acknowledged while it was sent`)
}

/**
 * Encodes the output of a response into slices of one size. Slices are copies, so a slow client holds a slice and not its
 * source.
 */
class ReplySlices {
  readonly #steps: EventLoopBudget
  #slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
  #length = 0

  constructor(steps: EventLoopBudget) {
    this.#steps = steps
  }

  /** Yields the slices that are full. */
  async *add(text: string): AsyncGenerator<Buffer> {
    for (let at = 0; at < text.length; ) {
      at += await this.#steps.run(() => this.#write(at === 0 ? text : text.slice(at)))
      if (this.#length > SLICE_BYTES - MAX_CHARACTER_BYTES) yield this.#take()
    }
  }

  /** Adds a short text at once, without the promises of `add`. Returns false if it may not fit into the slice. */
  append(text: string): boolean {
    if (text.length * MAX_UTF8_BYTES_PER_CHAR > SLICE_BYTES - MAX_CHARACTER_BYTES - this.#length) return false
    this.#write(text)
    return true
  }

  /** Yields what is left. */
  *end(): Generator<Buffer> {
    if (this.#length > 0) yield this.#take()
  }

  /** Returns the position reached in the text. Writes whole characters only. */
  #write(text: string): number {
    const { read, written } = ENCODER.encodeInto(text, this.#slice.subarray(this.#length))
    this.#length += written
    return read
  }

  #take(): Buffer {
    const full = this.#slice.subarray(0, this.#length)
    this.#slice = Buffer.allocUnsafeSlow(SLICE_BYTES)
    this.#length = 0
    return full
  }
}

function computeBatchTotals(batch: StoredBatch): BatchTotals {
  const slices = listGroupSlices(batch)
  const trained = listDeliveredRollouts(slices).filter(isTrained)
  return {
    groups: slices.length,
    sequences: countSequences(slices),
    trained_sequences: trained.length,
    trained_tokens: trained.reduce((sum, [, , length, tokens]) => sum + (tokens ?? length ?? 0), 0),
  }
}

function computePolicyLag({ groups, policy_version }: Pick<StoredBatch, 'groups' | 'policy_version'>): PolicyLag {
  const lags = groups.flatMap((group) => (group.policy_version === null ? [] : [policy_version - group.policy_version]))
  if (lags.length === 0) return { min: null, mean: null, max: null }
  return { min: minimum(lags), mean: mean(lags), max: maximum(lags) }
}

/**
 * Computes flat metrics for a logger and leaves out those without data. They are exact, because a batch has all its
 * values.
 */
export function computeBatchMetrics(batch: StoredBatch): Record<string, number> {
  const rollouts = batch.groups.flatMap((group) => group.rollouts)
  const rewards = rollouts.flatMap(([reward]) => reward ?? [])
  const lengths = rollouts.flatMap(([, , length]) => length ?? [])
  const totals = computeBatchTotals(batch)
  const lag = computePolicyLag(batch)
  return omitUnknown({
    'batch/groups': totals.groups,
    'batch/sequences': totals.sequences,
    'batch/trained_sequences': totals.trained_sequences,
    'batch/trained_tokens': totals.trained_tokens,
    ...computeGroupMetrics(sumGroups(batch.groups)),
    'reward/std': rewards.length > 0 ? populationStd(rewards) : null,
    'length/p95': percentile(lengths, 0.95),
    'lag/min': lag.min,
    'lag/mean': lag.mean,
    'lag/max': lag.max,
  })
}

/** Whether a rollout is a voter: scored, not skipped, and not masked. */
function isTrained([reward, , , , marks]: RolloutSummary): boolean {
  return reward !== null && !marks.includes('s') && !marks.includes('m')
}

function listDeliveredRollouts(slices: GroupSlice[]): RolloutSummary[] {
  return slices.flatMap(({ group, indices }) =>
    indices.flatMap((k) => {
      const rollout = group.rollouts[k]
      return rollout ? [rollout] : []
    }),
  )
}

const minimum = (values: number[]) => values.reduce((a, b) => Math.min(a, b))
const maximum = (values: number[]) => values.reduce((a, b) => Math.max(a, b))

/** Delivered rollouts of one group, as indexes into the posted rollouts. */
export interface GroupSlice {
  group: GroupSummary
  indices: number[]
}

/** Lists what the batch delivers, oldest group first. Under `omit`, unscored rollouts are left out. */
export function listGroupSlices({ groups, unscored }: StoredBatch): GroupSlice[] {
  return groups.map((group) => ({
    group,
    indices: [...group.rollouts.keys()].filter((k) => unscored === 'mask' || group.rollouts[k]?.[0] !== null),
  }))
}

/**
 * Returns the groups of a rank. Slices are disjoint, cover the batch, and are the same for every caller. If there are more
 * ranks than groups, splits groups even if `tokens` was requested.
 */
export function computeRankSlice(batch: StoredBatch, { rank, ranks }: RankSlice): GroupSlice[] {
  const portions = listGroupSlices(batch)
  const isWhole = batch.balance === 'tokens' && portions.length >= ranks
  return isWhole ? assignWholeGroups(portions, rank, ranks) : splitEvenly(portions, rank, ranks)
}

export function countSequences(portions: GroupSlice[]): number {
  return portions.reduce((sum, { indices }) => sum + indices.length, 0)
}

/** Assigns the heaviest group first, to the lightest rank. Each rank's groups are then in the order of the batch. */
function assignWholeGroups(portions: GroupSlice[], rank: number, ranks: number): GroupSlice[] {
  const weigh = computeGroupWeights(portions)
  const loads = Array<number>(ranks).fill(0)
  const heaviestFirst = [...portions.keys()].toSorted((a, b) => (weigh[b] ?? 0) - (weigh[a] ?? 0) || a - b)
  const mine: number[] = []
  for (const k of heaviestFirst) {
    const lightest = loads.indexOf(Math.min(...loads))
    loads[lightest] = (loads[lightest] ?? 0) + (weigh[k] ?? 0)
    if (lightest === rank) mine.push(k)
  }
  const wanted = new Set(mine)
  return portions.filter((_, k) => wanted.has(k))
}

/**
 * Returns weights in tokens or, if any length in the batch is missing, in rollouts, because the two units cannot be
 * added.
 */
function computeGroupWeights(portions: GroupSlice[]): number[] {
  const lengths = portions.map(({ group, indices }) => indices.map((k) => group.rollouts[k]?.[2] ?? null))
  const known = lengths.every((of) => of.every((length) => length !== null))
  return lengths.map((of) => (known ? of.reduce<number>((sum, length) => sum + (length ?? 0), 0) : of.length))
}

/** Splits into consecutive rollouts. The numbers for any two ranks differ by at most one. */
function splitEvenly(portions: GroupSlice[], rank: number, ranks: number): GroupSlice[] {
  const total = countSequences(portions)
  const from = Math.floor((total * rank) / ranks)
  const to = Math.floor((total * (rank + 1)) / ranks)
  let at = 0
  return portions.flatMap(({ group, indices }) => {
    const mine = indices.slice(Math.max(0, from - at), Math.max(0, to - at))
    at += indices.length
    return mine.length === 0 ? [] : [{ group, indices: mine }]
  })
}
