/**
 * Ended epochs of runs and the removal of their keys. The script that ends an epoch records it next to the run; its
 * keys are removed later, in bounded steps. Every step can be repeated: the record stays if a process dies between two
 * steps.
 */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Producer } from '../../platform/queue/queues.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { removeEpochJob } from './jobs.ts'
import {
  type AllRunKeys,
  createEpoch,
  createRunKeys,
  type EpochKeys,
  type ListEpochKeys,
  runRecord,
  STATE_CONSTANTS,
} from './records.ts'
import type { RunRepository } from './repository.ts'
import { CONCURRENT_RUN_READS, RunIndex, sweepEach } from './run-index.ts'

const discardRun = defineScript(import.meta.dirname, 'discard-run', { RUN: runRecord.constants })
const reserveEpoch = defineScript(import.meta.dirname, 'reserve-epoch', { RUN: runRecord.constants })
const startEpoch = defineScript(import.meta.dirname, 'start-epoch', {
  RUN: runRecord.constants,
  STATE: STATE_CONSTANTS,
})
const isEpochRemovable = defineScript(import.meta.dirname, 'is-epoch-removable')

/** Time limit for writing the keys of a checkpoint. */
const RESERVATION_MS = 10 * 60 * 1000
const MEMBERS_PER_STEP = 500

export interface EpochRef {
  name: string
  epoch: number
}

/** Lists the keys of a run in one epoch. Each feature that keeps keys for runs adds its own list. */
export type EpochKeyListers = ListEpochKeys[]

export class EpochRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #listers: EpochKeyListers
  readonly #index: RunIndex

  constructor(redis: Redis, keys: RedisKeys, listers: EpochKeyListers) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#listers = listers
    this.#index = new RunIndex(redis, keys)
  }

  /**
   * Deletes a run of any size in one step. Returns the epoch whose keys are to be removed, or undefined if the run does
   * not exist.
   */
  async discardRun({ name, incarnation }: { name: string; incarnation: string }): Promise<EpochRef | undefined> {
    // The sweep needs the name, and a process that died after creating the run may not have listed it. A full Redis
    // rejects this.
    await this.#index.register(name).catch(() => {})
    const epoch = await discardRun(this.#redis, this.#runKeys(name), [incarnation])
    return epoch === null ? undefined : { name, epoch: Number(epoch) }
  }

  /** Reserves an epoch whose keys can be written before it starts. */
  async reserve(name: string): Promise<number> {
    return Number(await reserveEpoch(this.#redis, this.#runKeys(name), [createEpoch(), RESERVATION_MS]))
  }

  /**
   * Starts a reserved epoch, whose keys are written, with the fields of its run. Returns false if the run is not in the
   * epoch of `before` any more, or the reservation has expired.
   */
  async start(
    name: string,
    before: { epoch: number } | undefined,
    epoch: number,
    fields: Record<string, string | number>,
  ): Promise<boolean> {
    const args = [before?.epoch ?? 0, epoch, redisNow(), randomUUID(), ...Object.entries(fields).flat()]
    const { stepStates } = this.#keys.forRun(name, epoch)
    return (await startEpoch(this.#redis, { ...this.#runKeys(name), stepStates }, args)) === 1
  }

  /** Lists the reserved epochs and those whose keys are to be removed. */
  async listDiscarded(name: string): Promise<EpochRef[]> {
    const epochs = await this.#redis.zrange(this.#keys.discardedEpochs(name), '0', '-1')
    return epochs.map((epoch) => ({ name, epoch: Number(epoch) }))
  }

  /**
   * Removes the keys of an ended epoch. Does nothing if the epoch is in use or reserved. Stops early if `signal`
   * aborts.
   */
  async remove({ name, epoch }: EpochRef, signal?: AbortSignal): Promise<void> {
    const discardedEpochs = this.#keys.discardedEpochs(name)
    if ((await isEpochRemovable(this.#redis, { discardedEpochs }, [epoch])) !== 1) return
    const owned = this.#listOwned({ name, epoch })
    for (const { indexes } of owned) {
      for (const index of indexes) {
        while (await this.#removeMembers(index)) if (signal?.aborted) return
      }
    }
    await this.#redis.unlink(...owned.flatMap(({ keys }) => keys))
    await this.#redis.zrem(discardedEpochs, epoch)
    await this.unlistUnused(name)
  }

  /** Removes a name from the list of runs if no run is stored under it. */
  async unlistUnused(name: string): Promise<void> {
    if (await this.#isUsed(name)) return
    await this.#index.unregister(name)
    // Another process may have created and listed a run in the meantime. If it did so before the removal above, the
    // name must be listed again.
    if (await this.#isUsed(name)) await this.#index.register(name)
  }

  /** Lists what a rewind drops of the features that gather something for a run. */
  listRewound(ref: EpochRef): Required<EpochKeys>['rewound'] {
    const lists = this.#listOwned(ref).flatMap(({ rewound = [] }) => rewound)
    return { dropped: lists.flatMap(({ dropped }) => dropped), zeroed: lists.flatMap(({ zeroed }) => zeroed) }
  }

  /** Whether a sweep may have something to do for a run in this epoch, or epochs of it are to be removed. */
  async hasWork(ref: EpochRef): Promise<boolean> {
    const keys = this.#listOwned(ref).flatMap(({ swept = [] }) => swept)
    return (await this.#redis.exists(this.#keys.discardedEpochs(ref.name), ...keys)) > 0
  }

  #listOwned({ name, epoch }: EpochRef): EpochKeys[] {
    return [this.#keys.listEpochKeys, ...this.#listers].map((list) => list(name, epoch))
  }

  /**
   * Returns false if no members are left. The members are removed last, so that an interrupted step can be repeated.
   */
  async #removeMembers(indexed: EpochKeys['indexes'][number]): Promise<boolean> {
    const members = await this.#redis.zrange(indexed.index, '0', String(MEMBERS_PER_STEP - 1))
    if (members.length === 0) return false
    await this.#redis.unlink(...members.flatMap((member) => indexed.listKeys(member)))
    await this.#redis.zrem(indexed.index, ...members)
    return true
  }

  async #isUsed(name: string): Promise<boolean> {
    const { run, discardedEpochs } = this.#runKeys(name)
    return (await this.#redis.exists(run, discardedEpochs)) > 0
  }

  #runKeys(name: string): { run: string; discardedEpochs: string } {
    return { run: this.#keys.run(name), discardedEpochs: this.#keys.discardedEpochs(name) }
  }
}

interface EpochRemovalDeps {
  epochs: EpochRepository
  runs: RunRepository
  index: RunIndex
  producer: Producer
  log: Logger
}

export class EpochRemoval {
  readonly #deps: EpochRemovalDeps

  constructor(deps: EpochRemovalDeps) {
    this.#deps = deps
  }

  /**
   * Adds a job that removes the keys. If Redis rejects the job, for example because it is full, this process removes
   * them.
   */
  async schedule(ref: EpochRef): Promise<void> {
    const { epochs, producer, log } = this.#deps
    try {
      await producer.add(removeEpochJob, [buildJob(ref)])
    } catch {
      void epochs
        .remove(ref)
        .catch((err: unknown) =>
          log.warn({ err, run: ref.name }, 'the keys of a deleted run could not be removed; the sweeper retries'),
        )
    }
  }

  /** Adds lost jobs again, unlists names that no run has, and ends the visits to runs that have nothing to sweep. */
  async sweep(): Promise<void> {
    const { epochs, runs, index, producer, log } = this.#deps
    const sweepRun = async (name: string) => {
      const discarded = await epochs.listDiscarded(name)
      if (discarded.length > 0) return producer.add(removeEpochJob, discarded.map(buildJob))
      const run = await runs.get(name)
      if (!run) await epochs.unlistUnused(name)
      else if (!(await epochs.hasWork(run))) await index.removeSettled(name)
    }
    await sweepEach(log, await index.listToSweep(), sweepRun, { concurrency: CONCURRENT_RUN_READS })
  }

  /** Has the sweeps visit runs that the index lacks although they have work: a failover or an older server left them out. */
  async repairIndex(): Promise<void> {
    const { epochs, runs, index, log } = this.#deps
    const repairRun = async (name: string) => {
      const run = await runs.get(name)
      if (!run) return index.repair(name, { lastUsed: 0, hasWork: true })
      const lastUsed = Math.max(run.created, run.counters.last_accepted_at ?? 0)
      await index.repair(name, { lastUsed, hasWork: await epochs.hasWork(run) })
    }
    await sweepEach(log, await index.listNames(), repairRun, { concurrency: CONCURRENT_RUN_READS })
  }
}

function buildJob({ name, epoch }: EpochRef): { id: string; data: EpochRef } {
  return { id: `${name}/${epoch}`, data: { name, epoch } }
}
