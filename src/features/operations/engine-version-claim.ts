/** One engine version on one Redis: items of two would not be the same bytes, and each would refuse the other's ids. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { waitUntilReady } from '../../platform/redis/connect.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'

const claimEngineScript = defineScript({
  folder: import.meta.dirname,
  name: 'claim-engine-version',
  keys: ['engineProcesses'],
})

const CLAIM_REFRESH_INTERVAL_MS = 5_000
const CLAIM_TTL_MS = 15_000
const CLAIM_RETRY_INTERVAL_MS = 500
const REDIS_READY_TIMEOUT_MS = 5_000

export interface EngineVersionClaim {
  close(): Promise<void>
}

export interface ClaimEngineVersionOptions {
  version: string
  /** Of this process. */
  processName: string
  /** Another version is alive; it is waited for, for as long as a dead process may seem to live. */
  onConflict: (other: string) => void
  /** Another version has come while this process was cut off from Redis. */
  onClaimLost: (other: string) => void
}

/** Undefined if processes with another version live there. While Redis is away the claim is made as soon as it is back. */
export async function claimEngineVersion(
  redis: Redis,
  keys: RedisKeys,
  options: ClaimEngineVersionOptions,
): Promise<EngineVersionClaim | undefined> {
  const engineProcesses = keys.key('engine-processes')
  const { version, processName: name, onConflict: onWait, onClaimLost: onLost } = options
  const ask = async () => String(await claimEngineScript(redis, { engineProcesses }, [version, name, CLAIM_TTL_MS]))
  await waitUntilReady(redis, REDIS_READY_TIMEOUT_MS).catch(() => {})
  for (const until = Date.now() + CLAIM_TTL_MS + CLAIM_REFRESH_INTERVAL_MS; ; await sleep(CLAIM_RETRY_INTERVAL_MS)) {
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
  }, CLAIM_REFRESH_INTERVAL_MS)
  return {
    async close() {
      clearInterval(timer)
      await said // after what is taken back here, it would hold
      await redis.zrem(engineProcesses, `${version} ${name}`).catch(() => {})
    },
  }
}
