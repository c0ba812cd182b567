/**
 * Waiting without polling: the script that changes something announces its topic, and every process wakes its calls that wait for
 * the topic. Redis may lose an announcement, so each wait also ends by itself after a while.
 */
import type { Redis } from 'ioredis'
import type { RedisKeys } from './keys.ts'

/** How long a wait lasts at most, in case its announcement was lost or no process was left to make it. */
const RECHECK_MS = 2000

/** The one channel. Scripts PUBLISH on it a topic, such as the name of the changed key, or `TOPIC/DETAIL` for a part of it. */
export function formatChannel(keys: RedisKeys): string {
  return keys.key('notifications')
}

interface WaitOptions {
  timeoutMs: number
  /** Ends the wait early, without an error. */
  signal?: AbortSignal | undefined
  /** Waits until each of these parts of the topic has been announced, instead of any. */
  details?: readonly string[] | undefined
}

/** Hears of one topic from its creation on: create it before you read the state, then wait, so that no change is missed. */
export interface Listener {
  /** Resolves once there are announcements since the previous wait, or when the time is up. Read the state again either way. */
  wait(options: WaitOptions): Promise<void>
  close(): void
}

export class Notifications {
  readonly #connect: () => Redis
  readonly #channel: string
  readonly #recheckMs: number
  readonly #inboxes = new Map<string, Set<Inbox>>()
  #redis: Redis | undefined
  #closed = false

  /** `connect` opens a connection of its own, on first use: a subscribed connection can run no other commands. */
  constructor(connect: () => Redis, keys: RedisKeys, recheckMs = RECHECK_MS) {
    this.#connect = connect
    this.#recheckMs = recheckMs
    this.#channel = formatChannel(keys)
  }

  /** When true, waits end at once: the process ends, and its calls are to be answered with what there is. */
  get closed(): boolean {
    return this.#closed
  }

  /** The topic may include a detail, to hear only of that. */
  listen(topic: string): Listener {
    if (!this.#closed) this.#redis ??= this.#subscribe()
    const inbox = new Inbox()
    const inboxes = this.#inboxes.get(topic) ?? new Set()
    this.#inboxes.set(topic, inboxes.add(inbox))
    return {
      wait: async (options) => {
        const timeoutMs = Math.min(options.timeoutMs, this.#recheckMs)
        if (!this.#closed && !options.signal?.aborted) await inbox.wait({ ...options, timeoutMs })
      },
      close: () => {
        inboxes.delete(inbox)
        // By then, others may listen to the topic in another set.
        if (inboxes.size === 0 && this.#inboxes.get(topic) === inboxes) this.#inboxes.delete(topic)
      },
    }
  }

  /** Calls `read`, and again after announcements, until it returns a value. Undefined if it has returned none in time. */
  async poll<T>(
    topic: string,
    read: () => Promise<T | undefined>,
    { timeoutMs, signal }: Omit<WaitOptions, 'details'>,
  ): Promise<T | undefined> {
    const listener = this.listen(topic)
    try {
      for (const deadline = performance.now() + timeoutMs; ; ) {
        const value = await read()
        const leftMs = deadline - performance.now()
        if (value !== undefined || leftMs <= 0 || this.#closed || signal?.aborted) return value
        await listener.wait({ timeoutMs: leftMs, signal })
      }
    } finally {
      listener.close()
    }
  }

  close(): void {
    this.#closed = true
    this.#wakeAll()
    this.#redis?.disconnect()
  }

  #subscribe(): Redis {
    const redis = this.#connect()
    redis.on('message', (_channel, message) => this.#announce(message))
    // What was announced while there was no subscription is lost, so everyone reads again. ioredis repeats what fails.
    const subscribe = () =>
      redis
        .subscribe(this.#channel)
        .then(() => this.#wakeAll())
        .catch(() => {})
    redis.on('ready', subscribe)
    return redis
  }

  #announce(message: string): void {
    const slash = message.lastIndexOf('/')
    for (const inbox of this.#inboxes.get(message) ?? []) inbox.add('')
    for (const inbox of this.#inboxes.get(message.slice(0, slash)) ?? []) inbox.add(message.slice(slash + 1))
  }

  #wakeAll(): void {
    for (const inboxes of this.#inboxes.values()) for (const inbox of inboxes) inbox.wake()
  }
}

/** What one listener has heard and has not waited for yet. */
class Inbox {
  #details = new Set<string>()
  #isAwake = false
  #onNews: ((detail?: string) => void) | undefined

  add(detail: string): void {
    this.#details.add(detail)
    this.#onNews?.(detail)
  }

  wake(): void {
    this.#isAwake = true
    this.#onNews?.()
  }

  async wait({ timeoutMs, signal, details }: WaitOptions): Promise<void> {
    const missing = details && new Set(details).difference(this.#details)
    const isDone = () => this.#isAwake || (missing ? missing.size === 0 : this.#details.size > 0)
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => resolve()
    this.#onNews = (detail) => {
      if (detail !== undefined) missing?.delete(detail)
      if (isDone()) resolve()
    }
    const timer = setTimeout(end, Math.max(0, timeoutMs))
    signal?.addEventListener('abort', end, { once: true })
    if (isDone()) resolve()
    await promise
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    this.#onNews = undefined
    this.#isAwake = false
    this.#details.clear()
  }
}
