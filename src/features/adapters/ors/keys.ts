/** Redis keys of ORS sessions. */
import type { RedisKeys } from '../../../platform/redis/keys.ts'

export interface SessionKeys {
  /** JSON: item of the session. */
  session: string
  /** JSON: call that ended the episode, and its result. */
  result: string
}

export function createSessionKeys(keys: RedisKeys, id: string): SessionKeys {
  const slot = keys.slot(`ors:${id}`)
  return { session: `${slot}:session`, result: `${slot}:result` }
}
