/** Rescores in Redis: the last ones of each run, in its slot. They are removed with the epoch of the run. */
import { Rescore } from '@reasoning-gym-server/contract/rescore'
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { tryRead } from '../../platform/redis/unreadable-entries.ts'
import type { EpochRef } from '../runs/epochs.ts'
import { createRunKeys, type EpochKeys, epochPrefix, runRecord } from '../runs/records.ts'

const storeRescore = defineScript(import.meta.dirname, 'store-rescore', { RUN: runRecord.constants })

const MAX_RESCORES = 20

export class RescoreRepository {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Returns false if the run was deleted or restored since `epoch`, or the rescore forgotten: of too many, the oldest is. */
  async store(run: EpochRef, rescore: Rescore): Promise<boolean> {
    const keys = { ...createRunKeys(this.#keys).forRun(run.name, run.epoch), ...this.#listKeys(run) }
    const args = [run.epoch, rescore.id, JSON.stringify(rescore), MAX_RESCORES, rescore.status === 'queued' ? 1 : 0]
    return (await storeRescore(this.#redis, keys, args)) === 1
  }

  async get(run: EpochRef, id: string): Promise<Rescore | undefined> {
    return this.#read(run, id, await this.#redis.hget(this.#listKeys(run).rescores, id))
  }

  /** Newest first. */
  async list(run: EpochRef): Promise<Rescore[]> {
    const { rescores, rescoreIds } = this.#listKeys(run)
    const ids = await this.#redis.lrange(rescoreIds, 0, -1)
    const found = ids.length === 0 ? [] : await this.#redis.hmget(rescores, ...ids)
    return ids.flatMap((id, k) => this.#read(run, id, found[k]) ?? [])
  }

  listEpochKeys = (name: string, epoch: number): EpochKeys => {
    return { keys: Object.values(this.#listKeys({ name, epoch })), indexes: [] }
  }

  #read(run: EpochRef, id: string, json: string | null | undefined): Rescore | undefined {
    if (!json) return undefined
    return tryRead(this.#redis, { key: this.#listKeys(run).rescores, name: id }, () => Rescore.parse(JSON.parse(json)))
  }

  #listKeys({ name, epoch }: EpochRef) {
    const prefix = epochPrefix(this.#keys, name, epoch)
    return { rescores: `${prefix}:rescores`, rescoreIds: `${prefix}:rescore-ids` }
  }
}
