/** One engine version on one Redis: items of two would not be the same bytes, and each would refuse the other's ids. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Keys } from './keys.ts'
import { whenReady } from './redis.ts'
import { loadScript } from './script.ts'

const claim = loadScript('claim-engine-1')

const BEAT_MS = 5_000
const ALIVE_MS = 15_000
const AGAIN_MS = 500
const READY_MS = 5_000

export interface EngineClaim {
  close(): Promise<void>
}

interface Options {
  version: string
  /** Of this process. */
  name: string
  /** Another version is alive; it is waited for, for as long as a dead process may seem to live. */
  onWait: (other: string) => void
  /** Another version has come while this process was cut off from Redis. */
  onLost: (other: string) => void
}

/** Undefined if processes with another version live there. While Redis is away the claim is made as soon as it is back. */
export async function claimEngine(redis: Redis, keys: Keys, options: Options): Promise<EngineClaim | undefined> {
  const { version, name, onWait, onLost } = options
  const ask = async () => String(await claim(redis, [keys.engines], [version, name, ALIVE_MS]))
  await whenReady(redis, READY_MS).catch(() => {})
  for (const until = Date.now() + ALIVE_MS + BEAT_MS; ; await sleep(AGAIN_MS)) {
    const other = await ask().catch(() => '')
    if (other === '') break
    if (Date.now() > until) return undefined
    onWait(other)
  }
  let said: Promise<void> | undefined
  const timer = setInterval(() => {
    said = ask().then(
      (other) => {
        if (other !== '') onLost(other)
      },
      () => {}, // Redis is away: said again soon
    )
  }, BEAT_MS)
  return {
    async close() {
      clearInterval(timer)
      await said // after what is taken back here, it would hold
      await redis.zrem(keys.engines, `${version} ${name}`).catch(() => {})
    },
  }
}
