/**
 * Sessions of ORS in Redis, so that any node can answer. A session holds an item, and the result once its episode has
 * ended.
 */
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { RedisKeys } from '../../../platform/redis/keys.ts'

/** Clients ping every ten seconds. A session that is silent for this long expires, as on the original server. */
const SESSION_TTL_S = 900

export const Session = z.object({
  /** Run of the session, or null without a run. */
  run: z.string().nullable(),
  itemId: z.string(),
  /** Digest of the create request; a repeat of the same request is a retry. */
  source: z.string(),
})
export type Session = z.infer<typeof Session>

interface SessionKeys {
  /** JSON: item of the session. */
  session: string
  /** JSON: call that ended the episode, and its result. */
  result: string
}

function createSessionKeys(keys: RedisKeys, id: string): SessionKeys {
  const slot = keys.slot(`ors:${id}`)
  return { session: `${slot}:session`, result: `${slot}:result` }
}

const StoredResult = z.object({ call: z.string(), result: z.string() })
/** Call that ended an episode, and its result, both as JSON. */
type StoredResult = z.infer<typeof StoredResult>

export class OrsSessions {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Returns the session with this ID: the new one, or the one that already existed. */
  async create(id: string, session: Session): Promise<Session> {
    const key = createSessionKeys(this.#keys, id).session
    const isNew = await this.#redis.set(key, JSON.stringify(session), 'EX', SESSION_TTL_S, 'NX')
    return isNew ? session : ((await this.get(id)) ?? session)
  }

  /** Returns undefined if the session does not exist or has expired; otherwise extends its lifetime. */
  async get(id: string): Promise<Session | undefined> {
    const json = await this.#redis.getex(createSessionKeys(this.#keys, id).session, 'EX', SESSION_TTL_S)
    return json === null ? undefined : Session.parse(JSON.parse(json))
  }

  /** Stores the first result of the session, from any caller, and returns it. */
  async keepResult(id: string, result: StoredResult): Promise<StoredResult> {
    const key = createSessionKeys(this.#keys, id).result
    const isNew = await this.#redis.set(key, JSON.stringify(result), 'EX', SESSION_TTL_S, 'NX')
    return isNew ? result : ((await this.getResult(id)) ?? result)
  }

  async getResult(id: string): Promise<StoredResult | undefined> {
    const json = await this.#redis.getex(createSessionKeys(this.#keys, id).result, 'EX', SESSION_TTL_S)
    return json === null ? undefined : StoredResult.parse(JSON.parse(json))
  }

  async delete(id: string): Promise<void> {
    const { session, result } = createSessionKeys(this.#keys, id)
    await this.#redis.unlink(session, result)
  }
}
