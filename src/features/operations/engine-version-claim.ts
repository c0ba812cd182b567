/** Allows one engine version per Redis: items of two versions differ, and each version would reject the item IDs of the other. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { waitUntilReady } from '../../platform/redis/connect.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'

const claimEngineScript = defineScript(import.meta.dirname, 'claim-engine-version')

const CLAIM_REFRESH_INTERVAL_MS = 5_000
const CLAIM_TTL_MS = 15_000
const CLAIM_RETRY_INTERVAL_MS = 500
const REDIS_READY_TIMEOUT_MS = 5_000

export interface EngineVersionClaim {
  close(): Promise<void>
}

export interface ClaimEngineVersionOptions {
  version: string
  processName: string
  /** Called while another version is alive. The claim waits until a dead process would have expired. */
  onConflict: (otherVersion: string, otherProcess: string) => void
  /** Called if another version claimed Redis while this process was disconnected. */
  onClaimLost: (otherVersion: string, otherProcess: string) => void
}

/**
 * Returns undefined if processes with another version are alive. While Redis is unavailable, retries the claim in the
 * background.
 */
export async function claimEngineVersion(
  redis: Redis,
  keys: RedisKeys,
  options: ClaimEngineVersionOptions,
): Promise<EngineVersionClaim | undefined> {
  const engineProcesses = keys.key('engine-processes')
  const { version, processName, onConflict, onClaimLost } = options
  const refreshClaim = async (): Promise<[version: string, process: string] | undefined> => {
    const member = String(await claimEngineScript(redis, { engineProcesses }, [version, processName, CLAIM_TTL_MS]))
    const [otherVersion = '', otherProcess = ''] = member.split(' ')
    return member === '' ? undefined : [otherVersion, otherProcess]
  }
  await waitUntilReady(redis, REDIS_READY_TIMEOUT_MS).catch(() => {})
  for (
    const deadline = performance.now() + CLAIM_TTL_MS + CLAIM_REFRESH_INTERVAL_MS;
    ;
    await sleep(CLAIM_RETRY_INTERVAL_MS)
  ) {
    const conflict = await refreshClaim().catch(() => undefined)
    if (conflict === undefined) break
    if (performance.now() > deadline) return undefined
    onConflict(...conflict)
  }
  let lastRefresh: Promise<void> | undefined
  const timer = setInterval(() => {
    lastRefresh = refreshClaim().then(
      (conflict) => {
        if (conflict) onClaimLost(...conflict)
      },
      () => {}, // Redis is unavailable; the next refresh follows soon
    )
  }, CLAIM_REFRESH_INTERVAL_MS)
  return {
    async close() {
      clearInterval(timer)
      await lastRefresh // a refresh after the removal would restore the claim
      await redis.zrem(engineProcesses, `${version} ${processName}`).catch(() => {})
    },
  }
}
