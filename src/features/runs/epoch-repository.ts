/**
 * The epochs of runs that have ended, and the removal of their keys. A script that ends an epoch notes it beside the run; its
 * keys are removed later, in bounded steps. Each step may be repeated: a process that dies between two leaves the note.
 */
import type { Redis } from 'ioredis'
import { fleetNow } from '../../platform/redis/fleet-clock.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { type AllRunKeys, createRunKeys, type EpochKeys, type ListEpochKeys } from './keys.ts'
import { runRecord } from './run-record.ts'

const RUN_AND_EPOCHS = {
  folder: import.meta.dirname,
  keys: ['run', 'discardedEpochs'],
  constants: { RUN: runRecord.constants },
} as const
const discardRun = defineScript({ ...RUN_AND_EPOCHS, name: 'discard-run' })
const reserveEpoch = defineScript({ ...RUN_AND_EPOCHS, name: 'reserve-epoch' })
const isRemovable = defineScript({ folder: import.meta.dirname, name: 'is-removable', keys: ['discardedEpochs'] })

/** How long writing the keys of a checkpoint may take. */
const RESERVATION_MS = 10 * 60 * 1000
/** Members of an index whose keys one step removes. */
const MEMBERS_PER_STEP = 500

/** A run in one of its epochs. */
export interface EpochRef {
  name: string
  epoch: number
}

export class EpochRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys
  readonly #listers: readonly ListEpochKeys[]

  /** `laterKeys`: what later features keep of a run. */
  constructor(redis: Redis, keys: RedisKeys, laterKeys: readonly ListEpochKeys[]) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
    this.#listers = [this.#keys.listEpochKeys, ...laterKeys]
  }

  /** Deletes a run in one step, however large it is. Returns the epoch whose keys are to be removed; undefined if it is gone. */
  async discardRun({ name, uuid }: { name: string; uuid: string }): Promise<EpochRef | undefined> {
    // The sweep needs the name, and a process that created the run and died may not have listed it. A full Redis rejects this.
    await this.#redis.sadd(this.#keys.runs, name).catch(() => {})
    const epoch = await discardRun(this.#redis, this.#runKeys(name), [uuid])
    return epoch === null ? undefined : { name, epoch: Number(epoch) }
  }

  /** An epoch whose keys can be written before it starts. */
  async reserve(name: string): Promise<number> {
    return Number(await reserveEpoch(this.#redis, this.#runKeys(name), [createEpoch(), RESERVATION_MS]))
  }

  /** Epochs whose keys are to be removed, and reserved ones. */
  async listDiscarded(name: string): Promise<EpochRef[]> {
    const epochs = await this.#redis.zrange(this.#keys.discardedEpochs(name), '0', '-1')
    return epochs.map((epoch) => ({ name, epoch: Number(epoch) }))
  }

  /** Removes the keys of an ended epoch; nothing if it is in use or reserved. Stops early if `signal` aborts. */
  async remove({ name, epoch }: EpochRef, signal?: AbortSignal): Promise<void> {
    const discardedEpochs = this.#keys.discardedEpochs(name)
    if ((await isRemovable(this.#redis, { discardedEpochs }, [epoch])) !== 1) return
    const owned = this.#listers.map((list) => list(name, epoch))
    for (const { indexes } of owned) {
      for (const index of indexes) {
        while (await this.#removeMembers(index)) if (signal?.aborted) return
      }
    }
    await this.#redis.unlink(...owned.flatMap(({ keys }) => keys))
    await this.#redis.zrem(discardedEpochs, epoch)
    await this.unlistUnused(name)
  }

  /** Removes a name from the list of runs if nothing is stored under it. */
  async unlistUnused(name: string): Promise<void> {
    if (await this.#isUsed(name)) return
    await this.#redis.srem(this.#keys.runs, name)
    // A run that was created meanwhile was listed before or after; in the first case it must be listed again.
    if (await this.#isUsed(name)) await this.#redis.sadd(this.#keys.runs, name)
  }

  /** False if there are no more. The members go last: what dies before that finds them again. */
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

/** The least epoch for a new run: the time, so that it shares nothing with an earlier run of its name. */
export function createEpoch(): number {
  return fleetNow()
}
