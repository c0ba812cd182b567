/**
 * Groups in Redis: their records, texts and arrays. One script accepts the groups of a run that are posted at about the same
 * time, so that a group that is posted twice counts once.
 * completion-repository.ts completes them.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Destination } from '@reasoning-gym-server/contract/rollout'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { GroupResult } from '../../grading/group-advantages.ts'
import { batchCalls } from '../../platform/batch-calls.ts'
import type { Platform } from '../../platform/platform.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { tryRead } from '../../platform/redis/unreadable-entries.ts'
import { splitList } from '../../platform/split-list.ts'
import { backlogRecord, runRecord, STATE_CONSTANTS } from '../runs/records.ts'
import { RunIndex } from '../runs/run-index.ts'
import { type GroupMetadata, type GroupPayload, type GroupTexts, unpackMetadata, unpackTexts } from './group-payload.ts'
import { createGroupKeys, type GroupKeys, type GroupRef, groupRecord } from './records.ts'

const CONSTANTS = {
  RUN: runRecord.constants,
  GROUP: groupRecord.constants,
  BACKLOG: backlogRecord.constants,
}

const acceptGroups = defineScript(import.meta.dirname, 'accept-groups', { ...CONSTANTS, STATE: STATE_CONSTANTS })
const reopenGroup = defineScript(import.meta.dirname, 'reopen-group', CONSTANTS)

/** Limit of groups that share a script, which takes about 0.05 ms for each. */
const MAX_GROUPS_PER_SCRIPT = 32
/** A group of this size has a script of its own, because the arguments of a script are in memory together. */
const LARGE_GROUP_BYTES = 1024 * 1024

type AcceptGroupResult = 'new' | 'duplicate' | 'conflict' | 'buffer_full' | 'run_changed'

const GroupStatus = z.enum(['queued', 'scored', 'failed'])
type GroupStatus = z.infer<typeof GroupStatus>

/** A stored group. `metadata` and `result` are undefined once the group is no longer retained. */
export interface StoredGroup {
  status: GroupStatus
  destination: Destination | null
  /** Whether the group is to wait for a trainer. */
  forBuffer: boolean
  /** Rewards of its rollouts, once it is completed. They are kept longer than the result. */
  rewards: (number | null)[] | undefined
  metadata: GroupMetadata | undefined
  result: GroupResult | undefined
}

/** A group that waits to be scored. `texts` is undefined if Redis has lost them. */
export interface QueuedGroup {
  forBuffer: boolean
  metadata: GroupMetadata
  contentHash: string
  texts: GroupTexts | undefined
}

export interface AcceptGroupParams {
  /** Revision of the run's settings that they come from. */
  revision: number
  rollouts: number
  /** Whether the group is to wait for a trainer. */
  forBuffer: boolean
  /** Limit of the groups queued, buffered and in open batches, for groups that are to wait for a trainer. */
  maxGroups: number
  /** Whether the server is full and accepts only duplicates. Then texts and arrays are not sent. */
  serverFull: boolean
  /** Position of its item in the run's sequence, if it has one. */
  lease: { position: number; task: string } | undefined
}

interface RecordToAccept {
  ref: GroupRef
  group: GroupPayload
  params: AcceptGroupParams
}

export class GroupRepository {
  readonly #redis: Redis
  readonly #keys: GroupKeys
  readonly #index: RunIndex
  readonly #acceptRecord = batchCalls((records: RecordToAccept[]) => this.#acceptRecords(records), {
    keyOf: ({ ref: { run, epoch, group: id }, group, params: { revision } }) =>
      [run, epoch, revision, ...(countBytes(group) < LARGE_GROUP_BYTES ? [] : [id])].join('/'),
    maxCalls: MAX_GROUPS_PER_SCRIPT,
  })

  constructor({ redis, keys }: Pick<Platform, 'redis' | 'keys'>) {
    this.#index = new RunIndex(redis, keys)
    this.#redis = redis
    this.#keys = createGroupKeys(keys)
  }

  async accept(ref: GroupRef, group: GroupPayload, params: AcceptGroupParams): Promise<AcceptGroupResult> {
    await this.#index.markUsed({ name: ref.run, epoch: ref.epoch })
    return this.#acceptRecord({ ref, group, params })
  }

  /** The groups are of one revision of a run. */
  async #acceptRecords(records: RecordToAccept[]): Promise<AcceptGroupResult[]> {
    const [first] = records
    if (!first) return []
    const { ref, params } = first
    const keys = this.#keys.forRun(ref.run, ref.epoch)
    const shared = {
      epoch: ref.epoch,
      revision: params.revision,
      now: redisNow(),
      max_groups: params.maxGroups,
      group_key_prefix: keys.group(''),
      texts_key_prefix: keys.texts(''),
      arrays_key_prefix: keys.arrays(''),
      groups: records.map(buildAcceptArgs),
    }
    const args = [JSON.stringify(shared), ...records.flatMap(buildBlobArgs)]
    const reply = (await acceptGroups(this.#redis, keys, args)) as 'run_changed' | AcceptGroupResult[] // as the script returns them
    return Array.isArray(reply) ? reply : records.map(() => reply)
  }

  /**
   * Makes a failed group pending again. Returns false if it has not failed, or its rollouts or its epoch no longer
   * exist.
   */
  async reopen({ run, epoch, group }: GroupRef): Promise<boolean> {
    const keys = this.#keys.forRun(run, epoch)
    await this.#index.markUsed({ name: run, epoch })
    const reopened = await reopenGroup(this.#redis, { ...keys, group: keys.group(group) }, [group, redisNow(), epoch])
    return reopened === 1
  }

  async get({ run, epoch, group }: GroupRef): Promise<StoredGroup | undefined> {
    const key = this.#keys.forRun(run, epoch).group(group)
    const { status: a, for_buffer: b, metadata: c, result: d, destination: e, rewards: f } = groupRecord.constants
    const values = await this.#redis.hmget(key, a, b, c, d, e, f)
    const [status, forBuffer, metadata, result, storedDestination, rewards] = values
    if (!status) return undefined
    const destination = Destination.nullable().parse(storedDestination || null)
    return {
      status: GroupStatus.parse(status),
      forBuffer: forBuffer === '1',
      destination,
      rewards: rewards ? (JSON.parse(rewards) as (number | null)[]) : undefined, // written by CompletionRepository.complete
      metadata: metadata ? unpackMetadata(metadata) : undefined,
      result: result ? { ...(JSON.parse(result) as GroupResult), destination } : undefined,
    }
  }

  /** Returns undefined if the group is completed or no longer retained. */
  async getQueued({ run, epoch, group }: GroupRef): Promise<QueuedGroup | undefined> {
    const keys = this.#keys.forRun(run, epoch)
    const { status: a, for_buffer: b, metadata: c, content_hash: d } = groupRecord.constants
    const [[status, forBuffer, metadata, contentHash], texts] = await Promise.all([
      this.#redis.hmget(keys.group(group), a, b, c, d),
      this.#redis.getBuffer(keys.texts(group)),
    ])
    if (status !== 'queued' || !metadata || !contentHash) return undefined
    const entry = { key: keys.texts(group), name: group }
    return {
      forBuffer: forBuffer === '1',
      metadata: unpackMetadata(metadata),
      contentHash,
      texts: texts ? tryRead(this.#redis, entry, () => unpackTexts(texts)) : undefined, // without texts, the group fails
    }
  }

  /**
   * Lists the retained groups that were completed before number `before` of the run, newest first, or those that a rewind
   * has voided. Their numbers are higher than all others.
   */
  async listRetained(
    run: string,
    epoch: number,
    before: number,
    limit: number,
    set: 'retainedGroups' | 'rewoundGroups' = 'retainedGroups',
  ): Promise<{ group: string; position: number }[]> {
    const key = this.#keys.forRun(run, epoch)[set]
    const below = before === Number.POSITIVE_INFINITY ? '+inf' : `(${before}`
    const flat = await this.#redis.zrange(key, below, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, limit, 'WITHSCORES')
    return parseRetained(flat)
  }

  /** Lists the retained groups from number `from` of the run on, oldest first. */
  async listRetainedFrom(
    run: string,
    epoch: number,
    from: number,
    limit: number,
  ): Promise<{ group: string; position: number }[]> {
    const key = this.#keys.forRun(run, epoch).retainedGroups
    return parseRetained(
      await this.#redis.zrange(key, String(from), '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES'),
    )
  }

  /** The number of the last `limit` retained groups, and the first of them in order of completion. */
  async locateRetained(run: string, epoch: number, limit: number): Promise<{ total: number; first: number }> {
    const total = Math.min(limit, await this.countRetained(run, epoch))
    const [, first] = await this.#redis.zrange(
      this.#keys.forRun(run, epoch).retainedGroups,
      `${-total}`,
      `${-total}`,
      'WITHSCORES',
    )
    return { total, first: Number(first ?? 0) }
  }

  /** The mean reward of each group, undefined where it has none. */
  async readMeanRewards(run: string, epoch: number, groups: readonly string[]): Promise<(number | undefined)[]> {
    const { group } = this.#keys.forRun(run, epoch)
    const { mean_reward } = groupRecord.constants
    const texts = await Promise.all(groups.map((id) => this.#redis.hget(group(id), mean_reward)))
    return texts.map((text) => (text ? Number(text) : undefined))
  }

  countRetained(run: string, epoch: number): Promise<number> {
    return this.#redis.zcard(this.#keys.forRun(run, epoch).retainedGroups)
  }

  /** Returns when the oldest pending group was accepted, in milliseconds, or undefined if no group is pending. */
  async getOldestPendingTime(run: string, epoch: number): Promise<number | undefined> {
    const [, time] = await this.#redis.zrange(this.#keys.forRun(run, epoch).pendingGroups, '0', '0', 'WITHSCORES')
    return time === undefined ? undefined : Number(time)
  }

  /**
   * Returns the completions and conversations of a group, without its arrays, or undefined once they are no longer
   * kept.
   */
  async getTexts({ run, epoch, group }: GroupRef): Promise<GroupTexts | undefined> {
    const texts = await this.#redis.getBuffer(this.#keys.forRun(run, epoch).texts(group))
    return texts ? unpackTexts(texts) : undefined
  }

  /** Lists the pending groups of a run that were accepted before `time`, oldest first. */
  listPendingAcceptedBefore(run: string, epoch: number, time: number, limit: number): Promise<string[]> {
    return this.#redis.zrangebyscore(this.#keys.forRun(run, epoch).pendingGroups, 0, time, 'LIMIT', 0, limit)
  }
}

/** `flat` has the ID and the number of each group. */
function parseRetained(flat: string[]): { group: string; position: number }[] {
  return splitList(flat, 2).map(([group = '', position]) => ({ group, position: Number(position) }))
}

function countBytes({ texts, arrays }: GroupPayload): number {
  return texts.byteLength + arrays.byteLength
}

/** Builds what the script reads of a group. */
function buildAcceptArgs({ ref, group, params }: RecordToAccept) {
  const { rollouts, forBuffer, serverFull, lease } = params
  return {
    id: ref.group,
    content_hash: group.contentHash,
    rollouts,
    bytes: countBytes(group),
    for_buffer: forBuffer,
    server_full: serverFull,
    lease,
    policy_version: group.policyVersion ?? undefined,
  }
}

/** What the script stores as it is. */
function buildBlobArgs({ group: { metadata, texts, arrays }, params }: RecordToAccept): (string | Buffer)[] {
  return params.serverFull ? ['', '', ''] : [metadata, texts, arrays]
}

export function lostTextsError(group: string): ServiceError {
  return new ServiceError(
    'redis_unavailable',
    `Redis has lost the texts of the group ${group}, which can happen in a failover. Post it again.`,
  )
}
