/**
 * Entries in Redis that cannot be read, because they are cut off or of another shape. The code that finds one sets it aside, so
 * that it blocks nothing else, and reports it here. The log names the run and the entry, but not what it holds, which
 * may be an answer.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { throttledLog } from '../throttled-log.ts'
import { translateRedisError } from './redis-errors.ts'

interface UnreadableEntry {
  key: string
  /** Field or member of the key: a group, a position, a task, … */
  name: string
}

const EVENT = 'unreadable-entry'

class UnreadableEntryError extends Error {
  readonly entry: UnreadableEntry

  constructor(entry: UnreadableEntry) {
    super(`${entry.key} ${entry.name}`)
    this.entry = entry
  }
}

/** Parses a stored entry. Returns undefined, and reports the entry, if that fails. */
export function tryRead<T>(redis: Redis, entry: UnreadableEntry, parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    reportUnreadable(redis, entry)
    return undefined
  }
}

/**
 * Like `tryRead`, for an entry of a list that has yet to be read from Redis: a damaged one is left out of the list. Rejects if Redis
 * fails, which it does for all entries alike.
 */
export async function tryReadFrom<T>(
  redis: Redis,
  entry: UnreadableEntry,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (translateRedisError(error) instanceof ServiceError) throw error
    reportUnreadable(redis, entry)
    return undefined
  }
}

export function reportUnreadable(redis: Redis, entry: UnreadableEntry): void {
  redis.emit(EVENT, new UnreadableEntryError(entry))
}

export function logUnreadable(redis: Redis, log: Logger): void {
  const warn = throttledLog((error, suppressed) => {
    const { key, name } = (error as UnreadableEntryError).entry // the only errors of this event
    const run = /run:([^}]+)}/.exec(key)?.[1]
    log.warn({ run, key, member: name, suppressed }, 'an entry in Redis could not be read and was set aside')
  })
  redis.on(EVENT, warn)
}
