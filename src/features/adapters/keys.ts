/** Redis keys of the adapters. */
import { createHash } from 'node:crypto'
import type { RedisKeys } from '../../platform/redis/keys.ts'

interface AdapterKeys {
  /** Hash: usage of an adapter. */
  usage: (adapter: string) => string
  /** Hash: sum and number of the recent rewards of an item's samples. */
  siblingRewards(run: string, itemId: string): string
}

export function createAdapterKeys(keys: RedisKeys): AdapterKeys {
  return {
    usage: (adapter) => keys.key(`adapter-usage:${adapter}`),
    siblingRewards: (run, itemId) => keys.key(`sibling-rewards:${run}:${hash(itemId)}`),
  }
}

function hash(itemId: string): string {
  return createHash('sha1').update(itemId).digest('base64url')
}
