/**
 * Processes on one Redis must have the same code of a task from TASKS_PATH: those that started later with other code, or
 * without the task, reject it until the others have ended. All other tasks are served.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import { defineScript } from '../../platform/redis/scripts.ts'

const claimTaskCodeScript = defineScript(import.meta.dirname, 'claim-task-code')

const CLAIM_REFRESH_INTERVAL_MS = 5_000
const CLAIM_TTL_MS = 15_000
/** While a task is rejected, so that it soon comes back. */
const CLAIM_RETRY_INTERVAL_MS = 500

interface TaskCodeClaimsDeps {
  redis: Redis
  keys: RedisKeys
  processName: string
  log: Logger
}

export class TaskCodeClaims {
  readonly #deps: TaskCodeClaimsDeps
  readonly #redisKeys: { taskCode: string; taskCodeClaims: string }
  /** Hash of the code of each custom task of this process. */
  #codes: ReadonlyMap<string, string> | undefined
  #conflicts = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #refreshing: Promise<void> | undefined
  #closed = false

  constructor(deps: TaskCodeClaimsDeps) {
    this.#deps = deps
    const slot = deps.keys.slot('task-code')
    this.#redisKeys = { taskCode: slot, taskCodeClaims: `${slot}:claims` }
  }

  /** Claims the code of all custom tasks of this process, again and again until `close`. While Redis is unavailable, nothing is rejected. */
  async claim(codes: ReadonlyMap<string, string>): Promise<void> {
    await this.#refreshing
    if (this.#closed) return
    this.#codes = codes
    await this.#refresh()
  }

  /** Why this process rejects a task, or undefined if it does not. */
  conflictOf(task: string): string | undefined {
    return this.#conflicts.get(task)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#refreshing // a refresh after the removal would restore the claims
    const { redis, processName } = this.#deps
    const members = [...(this.#codes ?? [])].map(([task, hash]) => `${task} ${hash} ${processName}`)
    if (members.length > 0) await redis.zrem(this.#redisKeys.taskCodeClaims, ...members).catch(() => {})
  }

  #refresh(): Promise<void> {
    clearTimeout(this.#timer)
    this.#refreshing = this.#claimOnce()
      .catch((error: unknown) => {
        if (translateRedisError(error) instanceof ServiceError) return // Redis is away or full; the next refresh follows soon
        this.#deps.log.error(
          { err: error },
          'the code of custom tasks could not be compared with that of other processes',
        )
      })
      .then(() => {
        if (this.#closed) return
        const delay = this.#conflicts.size > 0 ? CLAIM_RETRY_INTERVAL_MS : CLAIM_REFRESH_INTERVAL_MS
        this.#timer = setTimeout(() => void this.#refresh(), delay).unref()
      })
    return this.#refreshing
  }

  async #claimOnce(): Promise<void> {
    const { redis, processName, log } = this.#deps
    const codes = this.#codes ?? new Map<string, string>()
    const found = await claimTaskCodeScript(redis, this.#redisKeys, [processName, CLAIM_TTL_MS, ...[...codes].flat()])
    const conflicts = new Map(
      (found as [task: string, hash: string, process: string][]).map(([task, hash, other]) => [
        task,
        describeConflict(task, codes.get(task), hash, other),
      ]),
    )
    for (const [task, detail] of conflicts) if (!this.#conflicts.has(task)) log.error({ task, detail }, 'task rejected')
    for (const task of this.#conflicts.keys()) if (!conflicts.has(task)) log.info({ task }, 'task no longer rejected')
    this.#conflicts = conflicts
  }
}

function describeConflict(task: string, own: string | undefined, other: string, process: string): string {
  const difference =
    own === undefined
      ? `but this process does not have the task`
      : `but this process has other code of the task (${own})`
  return `The process ${process}, which shares this Redis, serves the task ${task} from TASKS_PATH with the code ${other}, ${difference}. Give all servers the same files, and restart them.`
}
