/**
 * A trajectory store: environments of Atropos submit groups, and its trainers take batches. An accepted group is kept
 * until a batch with it has been sent on a connection that stayed open.
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeBlob, encodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { fleetNow } from '../../../platform/redis/fleet-clock.ts'
import type { ReplyMemory, ReplyReader } from '../../../platform/reply-memory.ts'
import { TimeSlices } from '../../../platform/time-slices.ts'
import { ReplySlices } from '../../batches/reply-slices.ts'
import type { Delivery } from '../delivery.ts'
import { retryUntil } from '../sample-scoring.ts'
import { chooseBatch } from './compose.ts'
import { computeMinimums, describeEnvironment, type EnvironmentStatus } from './status.ts'
import {
  LEASE_MS,
  MAX_STORE_GROUPS,
  type OpenBatch,
  type PackedGroup,
  type StoreRepository,
  type StoreState,
} from './store-repository.ts'
import {
  type Environment,
  type EnvironmentRegistration,
  formatGroup,
  type Registration,
  type ScoredGroup,
} from './wire.ts'

/** Time slices for packing and sending groups, so that other requests are not delayed. */
const STEPS = new TimeSlices()
/** Interval at which a call checks a full store for space. */
const FULL_POLL_MS = 500
/** Interval at which the time of an environment's last call is recorded. */
const HEARD_INTERVAL_MS = 5000
const JSON_FACTOR = 2

export type EnvironmentRegistered =
  | { kind: 'too_early' }
  | { kind: 'registered'; id: number; name: string; registration: Registration; step: number }

export class TrajectoryStore {
  readonly #repository: StoreRepository
  readonly #maxBytes: number

  constructor(repository: StoreRepository, maxBytes: number) {
    this.#repository = repository
    this.#maxBytes = maxBytes
  }

  register(registration: Registration): Promise<void> {
    return this.#repository.register(registration)
  }

  readStore(): Promise<StoreState['store']> {
    return this.#repository.readStore()
  }

  /** Returns the step and the number of groups in the queue. */
  async readProgress(): Promise<{ step: number; queued: number }> {
    const { store, counts } = await this.#repository.read()
    return { step: store.step ?? 0, queued: counts.reduce((sum, { groups }) => sum + groups, 0) }
  }

  reset(): Promise<void> {
    return this.#repository.reset()
  }

  /** Registers an environment, which starts once a trainer has asked for its first batch. */
  async registerEnvironment(asked: EnvironmentRegistration): Promise<EnvironmentRegistered> {
    const { registration, started, step = 0 } = await this.#repository.readStore()
    if (!registration || !started) return { kind: 'too_early' }
    const { id, name } = await this.#repository.addEnvironment(asked.desired_name ?? 'environment', {
      max_token_length: asked.max_token_length,
      weight: asked.weight ?? 1,
      group_size: asked.group_size,
      min_batch_allocation: asked.min_batch_allocation ?? null,
      connected: true,
    })
    return { kind: 'registered', id, name, registration, step }
  }

  /** Returns false if the store does not know the environment. */
  async disconnectEnvironment(id: number): Promise<boolean> {
    const environment = (await this.#repository.read()).environments.get(id)
    if (!environment) return false
    const { heardAt: _, ...rest } = environment
    await this.#repository.updateEnvironment(id, { ...rest, connected: false } satisfies Environment)
    return true
  }

  async describeEnvironment(id: number): Promise<EnvironmentStatus> {
    const state = await this.#repository.read()
    const now = fleetNow()
    const own = state.environments.get(id)
    if (own && now - own.heardAt > HEARD_INTERVAL_MS) await this.#repository.noteHeard(id)
    return describeEnvironment(state, id, now)
  }

  /** Waits until the store has space. Throws `server_busy`. */
  async waitForRoom(deadline: number): Promise<void> {
    while (this.#isFull(await retryUntil(deadline, () => this.#repository.readStore()))) {
      if (performance.now() + FULL_POLL_MS > deadline) throw this.#createFullError()
      await sleep(FULL_POLL_MS)
    }
  }

  /** Adds all groups to the queue, once. A repeated submission whose first answer was not sent is recognized. */
  async accept(groups: ScoredGroup[], { deadline, delivery }: { deadline: number; delivery: Delivery }): Promise<void> {
    const packed: PackedGroup[] = []
    const digest = createHash('sha512-256')
    for (const group of groups) packed.push(await STEPS.run(() => packGroup(group, digest)))
    const id = digest.digest('base64url')
    let isWaiting = true
    void delivery.then(() => {
      isWaiting = false
    })
    const submit = (limits: { batchSize: number; maxBytes: number }) => {
      if (!isWaiting)
        throw new ServiceError('invalid_request', 'The environment has left before its groups were accepted')
      return this.#repository.accept(packed, id, limits)
    }
    for (;;) {
      const { registration } = await retryUntil(deadline, () => this.#repository.readStore())
      const limits = { batchSize: registration?.batch_size ?? 1, maxBytes: this.#maxBytes }
      // A submission repeated after a broken connection may already be accepted.
      if ((await retryUntil(deadline, async () => submit(limits))) !== 'full') break
      await this.waitForRoom(deadline)
      if (performance.now() > deadline) throw this.#createFullError()
    }
    void delivery.then((hasLeft) => (hasLeft ? this.#repository.noteAnswered(id) : undefined)).catch(() => {})
  }

  /**
   * Returns a batch that belongs to this caller until it is finished or offered again, or undefined if there is none
   * yet.
   */
  async takeBatch(): Promise<OpenBatch | 'unregistered' | undefined> {
    for (;;) {
      const next = await this.#repository.takeNextBatch()
      if (next.kind === 'unregistered') return 'unregistered'
      if (next.kind === 'batch') return next.batch
      if (next.kind !== 'queue') return undefined
      const state = await this.#repository.read()
      const now = fleetNow()
      const groups = chooseBatch(next.queue, {
        batchSize: state.store.registration?.batch_size ?? 1,
        minimums: this.#isFull(state.store) ? new Map<number, number>() : computeMinimums(state, now),
        now,
      })
      if (!groups) return undefined
      const batch = await this.#repository.compose(next.lastBatch, groups)
      if (batch) return batch
    }
  }

  /** Offers the batch to the next call. */
  async offerAgain({ id }: OpenBatch): Promise<void> {
    await this.#repository.offerAgain(id).catch(() => {}) // its lease ends
  }

  /** Keeps a batch from other calls while its answer is sent; if sending fails, it is offered again at once. */
  async watchDelivery({ id }: OpenBatch, delivery: Delivery): Promise<void> {
    const timer = setInterval(() => void this.#repository.renewLease(id).catch(() => {}), LEASE_MS / 3)
    const hasLeft = await delivery
    clearInterval(timer)
    const deadline = performance.now() + LEASE_MS
    await retryUntil(deadline, () => (hasLeft ? this.#repository.finish(id) : this.#repository.offerAgain(id))).catch(
      () => {}, // its lease ends
    )
  }

  /** Streams the groups of a batch as JSON, with one at a time in memory. */
  async *stream({ groups }: OpenBatch, memory: ReplyMemory, reader: ReplyReader): AsyncGenerator<Buffer> {
    const out = new ReplySlices(STEPS)
    let separator = '{"batch":['
    for (const { id, storedBytes, jsonBytes } of groups) {
      const reservation = memory.reserve(storedBytes + JSON_FACTOR * jsonBytes)
      try {
        await memory.waitFor(reader, reservation.granted)
        const letGo = memory.hold(reader)
        try {
          const packed = await this.#repository.readGroup(id)
          if (packed === null) continue // expired, or the store was emptied
          yield* out.add(separator)
          yield* out.add(await STEPS.run(() => decodeBlob(packed).toString()))
          separator = ','
        } finally {
          letGo()
        }
      } finally {
        reservation.release()
      }
    }
    yield* out.add(separator === ',' ? ']}' : `${separator}]}`)
    yield* out.end()
  }

  /** Returns the latest group as JSON, or undefined before the first. */
  async readLatest(): Promise<string | undefined> {
    const { latest } = await this.#repository.readStore()
    const packed = latest === undefined ? null : await this.#repository.readGroup(latest)
    return packed === null ? undefined : decodeBlob(packed).toString()
  }

  #isFull({ groups = 0, bytes = 0, sequences = 0, registration }: StoreState['store']): boolean {
    return bytes >= this.#maxBytes || (groups >= MAX_STORE_GROUPS && sequences >= 2 * (registration?.batch_size ?? 1))
  }

  #createFullError(): ServiceError {
    return new ServiceError(
      'server_busy',
      `The store holds ${MAX_STORE_GROUPS} groups or ${this.#maxBytes} bytes that no trainer has taken`,
    )
  }
}

function packGroup(group: ScoredGroup, digest: ReturnType<typeof createHash>): PackedGroup {
  const json = Buffer.from(formatGroup(group))
  digest.update(json).update('\n')
  return {
    sequences: group.tokens.length,
    environment: group.env_id ?? null,
    packed: encodeBlob(json),
    jsonBytes: json.byteLength,
  }
}
