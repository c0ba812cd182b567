/** Checks the durability settings of a Redis that the user provides. */
import type { Redis } from 'ioredis'
import { listMasters } from './cluster.ts'

/**
 * Warnings about settings that could lose accepted data, and about masters with fewer replicas than REDIS_REPLICAS asks for.
 * Empty if there are none. The settings of the append-only file are unknown if Redis does not allow CONFIG.
 */
export async function listDurabilityIssues(redis: Redis, replicas = 0): Promise<string[]> {
  const issues = listMasters(redis).map((node) => listNodeDurabilityIssues(node, replicas))
  return [...new Set((await Promise.all(issues)).flat())]
}

async function listNodeDurabilityIssues(redis: Redis, replicas: number): Promise<string[]> {
  const [settings, info] = await Promise.all([readDurabilitySettings(redis), redis.info()])
  const read = (field: string) => new RegExp(`^${field}:(\\S+)`, 'm').exec(info)?.[1]
  const issues: string[] = []
  if (settings.appendonly === 'no')
    issues.push('Redis has no append-only file: a restart loses what was accepted (set appendonly yes)')
  if (settings.appendonly === 'yes' && settings.appendfsync !== 'always') {
    issues.push(
      `Redis writes with appendfsync ${settings.appendfsync}: a crash can lose the last moments (set appendfsync always)`,
    )
  }
  const policy = read('maxmemory_policy') // INFO has it where CONFIG is not allowed, too
  if (policy && policy !== 'noeviction') {
    const evicted = Number(read('evicted_keys'))
    const what = evicted > 0 ? `has evicted ${evicted} keys, and may evict more` : 'may evict keys'
    issues.push(`Redis ${what} (${policy}), which loses what was accepted: set maxmemory-policy noeviction`)
  }
  const attached = replicas === 0 ? 0 : Number(read('connected_slaves'))
  if (attached < replicas)
    issues.push(
      `a master of Redis has ${attached} replicas, and REDIS_REPLICAS asks for ${replicas}: until they are back, calls that write get 503`,
    )
  return issues
}

/** Empty if Redis does not allow CONFIG. */
export async function readDurabilitySettings(redis: Redis): Promise<Record<string, string>> {
  const names = ['appendonly', 'appendfsync']
  try {
    const replies = await Promise.all(names.map((name) => redis.config('GET', name)))
    const pairs = replies.flat().map(String)
    return Object.fromEntries(names.map((name) => [name, pairs[pairs.indexOf(name) + 1] ?? '']))
  } catch {
    return {} // hosted Redis services often disable CONFIG
  }
}
