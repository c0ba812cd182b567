/** Keys of the adapters. */
import type { RedisKeys } from '../../platform/redis/keys.ts'

interface AdapterKeys {
  /** Hash: how much an adapter has been used. */
  usage(adapter: string): string
}

export function createAdapterKeys(keys: RedisKeys): AdapterKeys {
  return { usage: (adapter) => keys.key(`adapter-usage:${adapter}`) }
}
