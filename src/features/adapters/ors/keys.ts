/** Keys of the sessions of ORS. */
import type { RedisKeys } from '../../../platform/redis/keys.ts'

export interface SessionKeys {
  /** JSON: the item that the session is about. */
  session: string
  /** JSON: the call that ended the episode, and its result. */
  result: string
}

export function createSessionKeys(keys: RedisKeys, id: string): SessionKeys {
  const slot = keys.slot(`ors:${id}`)
  return { session: `${slot}:session`, result: `${slot}:result` }
}
