/**
 * Delivers the batches of a run to a trainer of Atropos, one step after the other, in its format. A step is acknowledged
 * once its answer is sent; until then the next call gets the same batch, and no other call gets one in the meantime.
 */

import { randomUUID } from 'node:crypto'
import type { StoredBatch } from '@reasoning-gym-server/contract/batch'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { EventLoopBudget } from '../../../platform/event-loop-budget.ts'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { formatChannel, type Notifications } from '../../../platform/redis/notifications.ts'
import { tryRead } from '../../../platform/redis/unreadable-entries.ts'
import type { Transfer } from '../../../platform/transfer-slots.ts'
import type { BatchLayout } from '../../batches/batch-stream.ts'
import type { BatchesFeature } from '../../batches/index.ts'
import type { UnpackedGroup } from '../../batches/unpacked-groups.ts'
import type { RunsFeature } from '../../runs/index.ts'
import { epochPrefix, type ListEpochKeys } from '../../runs/records.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import { type Delivery, retryUntil } from '../trainer-calls.ts'
import { formatGroup, Registration } from './wire.ts'

/** Time without a renewal by the sending process after which a batch goes to the next caller. */
const LEASE_MS = 15_000

interface RunBatchesDeps {
  redis: Redis
  keys: RedisKeys
  notifications: Notifications
  runs: RunsFeature
  batches: BatchesFeature
}

/** A composed batch that belongs to this caller until it is finished or released. */
interface LeasedBatch {
  run: ResolvedRun
  batch: StoredBatch
  lease: string
}

/** Key of the registration of a run's trainer, as JSON. It ends with the epoch, so that no later run of the name has it. */
function registrationKey(keys: RedisKeys, { name, epoch }: Pick<ResolvedRun, 'name' | 'epoch'>): string {
  return `${epochPrefix(keys, name, epoch)}:atropos-registration`
}

export function listAtroposKeys(keys: RedisKeys): ListEpochKeys {
  return (name, epoch) => ({ keys: [registrationKey(keys, { name, epoch })], indexes: [] })
}

/** Key of the lease of the caller whose answer is being sent. It expires. */
function leaseKey(keys: RedisKeys, run: string): string {
  return `${keys.slot(`atropos-run:${run}`)}:lease`
}

export class RunBatches {
  readonly #deps: RunBatchesDeps

  constructor(deps: RunBatchesDeps) {
    this.#deps = deps
  }

  /** Registers the trainer, whose batch size becomes the run's. */
  async register(name: string, registration: Registration): Promise<void> {
    const { redis, keys, runs } = this.#deps
    const { run } = await runs.runs.update(name, { batch_size: registration.batch_size }, { restart: false })
    await redis.set(registrationKey(keys, run), JSON.stringify(registration))
    // the run may have been deleted meanwhile, and its keys removed
    if (!(await runs.runs.get(name, { epoch: run.epoch }))) await redis.del(registrationKey(keys, run))
  }

  async getRegistration(name: string): Promise<Registration | undefined> {
    const run = await this.#deps.runs.runs.get(name)
    return run && this.#readRegistration(run)
  }

  /** Returns the number of batches so far and of groups that wait for the next. */
  async readProgress(run: string): Promise<{ steps: number; queued: number }> {
    const { runs } = this.#deps
    const resolved = await runs.runs.require(run)
    const { progress } = await runs.views.build(resolved)
    return { steps: await this.#getNextStep(resolved), queued: progress.buffered_groups }
  }

  /** Returns undefined if there is not enough for a batch, or if another call holds it until `deadline`. */
  async take(name: string, deadline: number): Promise<LeasedBatch | undefined> {
    const lease = await this.#acquireLease(name, deadline)
    if (lease === undefined) return undefined
    try {
      const run = await this.#deps.runs.runs.require(name)
      const batch = (await this.#getOpenBatch(run)) ?? (await this.#compose(run))
      if (batch) return { run, batch, lease }
    } catch (error) {
      await this.release(name, lease)
      throw error
    }
    await this.release(name, lease)
    return undefined
  }

  stream({ run, batch }: LeasedBatch, reader: Transfer): AsyncGenerator<Buffer> {
    const reading = { run, batch, reader, rankSlice: undefined, encoding: 'numbers' as const, layout: runLayout }
    return this.#deps.batches.delivery.stream(reading)
  }

  /** Acknowledges the batch once its answer is sent, and otherwise releases it to the next caller. */
  async watchDelivery({ run, batch, lease }: LeasedBatch, delivery: Delivery): Promise<void> {
    const { redis, keys, batches } = this.#deps
    const key = leaseKey(keys, run.name)
    const timer = setInterval(() => void redis.pexpire(key, LEASE_MS).catch(() => {}), LEASE_MS / 3)
    const hasLeft = await delivery
    const acknowledge = () => batches.delivery.acknowledge(run.name, batch.step, undefined)
    try {
      if (hasLeft) await retryUntil(performance.now() + LEASE_MS, acknowledge)
    } catch {
      // the run is gone, or the trainer gets the batch once more
    }
    clearInterval(timer)
    await this.release(run.name, lease)
  }

  async release(run: string, lease: string): Promise<void> {
    const { redis, keys } = this.#deps
    const key = leaseKey(keys, run)
    try {
      if ((await redis.get(key)) !== lease) return
      await redis.del(key)
      await redis.publish(formatChannel(keys), key)
    } catch {} // it expires
  }

  async #acquireLease(run: string, deadline: number): Promise<string | undefined> {
    const { redis, keys, notifications } = this.#deps
    const key = leaseKey(keys, run)
    const lease = randomUUID()
    const acquire = async () => ((await redis.set(key, lease, 'PX', LEASE_MS, 'NX')) ? lease : undefined)
    return notifications.poll(key, acquire, { timeoutMs: deadline - performance.now() })
  }

  async #getOpenBatch(run: ResolvedRun): Promise<StoredBatch | undefined> {
    const { step } = run.counters
    if (step === undefined) return undefined
    try {
      return (await this.#deps.batches.delivery.requireBatch(run.name, step)).batch
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unknown_batch') return undefined
      throw error
    }
  }

  async #compose(run: ResolvedRun): Promise<StoredBatch | undefined> {
    const delivered = await this.#deps.batches.delivery.waitForBatch(
      run.name,
      { step: await this.#getNextStep(run), final: false, balance: 'tokens' },
      { waitMs: 0, signal: new AbortController().signal },
    )
    return delivered.kind === 'batch' ? delivered.batch : undefined
  }

  async #readRegistration(run: ResolvedRun): Promise<Registration | undefined> {
    const { redis, keys } = this.#deps
    const key = registrationKey(keys, run)
    const json = await redis.get(key)
    if (json === null) return undefined
    return tryRead(redis, { key, name: '' }, () => Registration.parse(JSON.parse(json)))
  }

  /** Returns the step after the last one of the run, but at least the trainer's starting step. */
  async #getNextStep(run: ResolvedRun): Promise<number> {
    const { counters } = run
    const { starting_step = 0 } = (await this.#readRegistration(run)) ?? {}
    return Math.max(counters.step === undefined ? 0 : counters.step + 1, starting_step)
  }
}

/** Fields that Atropos reads; the arrays are as posted, converted to numbers. */
const StoredRollout = z.object({
  tokens: z.array(z.number()),
  masks: z.array(z.number()),
  logprobs: z.array(z.number().nullable()).optional(),
  messages: z.array(z.looseObject({ role: z.unknown(), content: z.unknown() })).optional(),
})
type StoredRollout = z.infer<typeof StoredRollout>

/** Placeholder of Atropos for a missing log-probability, because the token was not generated. */
const NO_LOGPROB = 1

const runLayout: BatchLayout = { head: '{"batch":[', tail: ']}', formatGroup: formatRunGroup }

async function formatRunGroup(group: UnpackedGroup, indices: number[], steps: EventLoopBudget): Promise<string> {
  const rollouts: StoredRollout[] = []
  for (const index of indices) rollouts.push(await steps.run(() => parseRollout(group.formatRollout(index))))
  // written by the group
  const verdicts = indices.map((index) => JSON.parse(group.formatVerdict(index) ?? 'null') as GroupVerdict)
  const messages = rollouts.map((rollout) => rollout.messages)
  const logprobs = rollouts.map((rollout) => rollout.logprobs?.map((value) => value ?? NO_LOGPROB))
  return steps.run(() =>
    formatGroup({
      tokens: rollouts.map(({ tokens }) => tokens),
      masks: rollouts.map(({ masks }) => masks),
      scores: computeScores(verdicts),
      ...(isComplete(logprobs) && { inference_logprobs: logprobs }),
      ...(isComplete(messages) && { messages }),
      overrides: verdicts.map((verdict) => (isTrained(verdict) ? {} : { set_advantage_to_zero: true })),
    }),
  )
}

function parseRollout(json: string): StoredRollout {
  const { data } = StoredRollout.safeParse(JSON.parse(json))
  if (!data)
    throw new ServiceError(
      'invalid_request',
      'A group of the batch has no tokens or masks, which the trainers of Atropos need. Post both with its rollouts.',
    )
  return data
}

/** Keeps a rollout without a reward from moving the mean of its group, which the trainer computes itself. */
function computeScores(verdicts: GroupVerdict[]): number[] {
  const rewards = verdicts.flatMap(({ reward }) => (reward === null ? [] : [reward]))
  const mean = rewards.length === 0 ? 0 : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
  return verdicts.map(({ reward }) => reward ?? mean)
}

function isTrained({ status, masked, skipped }: GroupVerdict): boolean {
  return status === 'scored' && masked === undefined && skipped === undefined
}

function isComplete<T>(values: (T | undefined)[]): values is T[] {
  return values.every((value) => value !== undefined)
}
