/** Names of keys in Redis: all begin with one prefix. Each feature names its own in its `keys.ts`. */

export interface RedisKeys {
  key(name: string): string
  /** The start of keys that one script touches together: its hash tag keeps them in one slot of a Redis Cluster. */
  slot(name: string): string
  /** BullMQ's own prefix. */
  queuePrefix: string
}

export function createRedisKeys(prefix: string): RedisKeys {
  const slot = (name: string) => `{${prefix}:${name}}`
  return { key: (name) => `${prefix}:${name}`, slot, queuePrefix: slot('jobs') }
}
