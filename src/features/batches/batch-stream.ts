/**
 * Streams a batch as JSON in slices, in a slot of large replies. A reader holds one slice, the group that it comes from, and the
 * next group, which it shares with other readers. A slice is a copy, so a group can be freed once its last slice is made.
 */
import type {
  BatchTotals,
  PolicyLag,
  RankSlice,
  RolloutSummary,
  StoredBatch,
} from '@reasoning-gym-server/contract/batch'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { divideSums, FlatMetrics, sumGroups } from '../../grading/group-statistics.ts'
import { mean, percentile, populationStd } from '../../grading/statistics.ts'
import { EventLoopBudget } from '../../platform/event-loop-budget.ts'
import type { Transfer, TransferSlots } from '../../platform/transfer-slots.ts'
import type { ArrayEncoding } from '../rollouts/group-payload.ts'
import { computeRankSlice, countRollouts, type GroupSlice, listGroupSlices } from './rank-slices.ts'
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
  reader: Transfer
}

export class BatchStreams {
  readonly #slots: TransferSlots
  readonly #groups: UnpackedGroups
  readonly #steps = new EventLoopBudget()

  constructor(batches: BatchRepository, slots: TransferSlots) {
    this.#slots = slots
    this.#groups = new UnpackedGroups(batches, this.#steps)
  }

  /**
   * Streams the JSON of a batch or of a rank's slice. Throws `server_busy` if no slot is free in time, and `batch_acknowledged` if the batch is acknowledged while it is read. If that happens midway, the response
   * breaks off.
   */
  async *stream({ run, batch, rankSlice, encoding, reader }: BatchReading): AsyncGenerator<Buffer> {
    const portions = rankSlice ? computeRankSlice(batch, rankSlice) : listGroupSlices(batch)
    const out = new ReplySlices(this.#steps)
    const begin = (k: number) => {
      const portion = portions[k]
      return portion && this.#groups.unpack(run, portion.group.id, encoding)
    }
    const release = await this.#slots.acquire(reader)
    let next: UnpackedGroupHandle | undefined
    let current = begin(0)
    try {
      yield* out.add(buildHead(run, batch, portions))
      for (const [k, { indices }] of portions.entries()) {
        if (!current) break // there is one for each portion
        next = begin(k + 1) // starts while the current one is sent
        const group = await current.group
        if (!group) throw createAcknowledgedError(batch.step)
        if (k > 0) yield* out.add(',')
        yield* this.#formatGroup(out, group, indices)
        current.close()
        current = next
        next = undefined
      }
      yield* out.add(']}')
      yield* out.end()
    } finally {
      current?.close()
      next?.close()
      release()
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
    rollouts: countRollouts(portions),
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
  return new ServiceError(
    'batch_acknowledged',
    `The batch of step ${step} was acknowledged while it was sent. Acknowledge a batch once it has arrived.`,
  )
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
    rollouts: countRollouts(slices),
    trained_rollouts: trained.length,
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
  const metrics = new FlatMetrics({
    'batch/groups': totals.groups,
    'batch/rollouts': totals.rollouts,
    'batch/trained_rollouts': totals.trained_rollouts,
    'batch/trained_tokens': totals.trained_tokens,
  })
  metrics.setOfGroups(divideSums(sumGroups(batch.groups)))
  metrics.set('reward/std', rewards.length > 0 ? populationStd(rewards) : null)
  metrics.set('length/p95', percentile(lengths, 0.95))
  metrics.set('lag/min', lag.min)
  metrics.set('lag/mean', lag.mean)
  metrics.set('lag/max', lag.max)
  return metrics.values
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
