/** Checks the durability settings of a Redis that the user provides. */
import type { Redis } from 'ioredis'
import { listMasters } from './cluster.ts'

/** Warnings about settings that could lose accepted data; empty if there are none, or if Redis does not allow CONFIG. */
export async function listDurabilityIssues(redis: Redis): Promise<string[]> {
  return [...new Set((await Promise.all(listMasters(redis).map(listNodeDurabilityIssues))).flat())]
}

async function listNodeDurabilityIssues(redis: Redis): Promise<string[]> {
  const settings = await readRedisConfig(redis)
  const issues: string[] = []
  if (settings.appendonly === 'no')
    issues.push('Redis has no append-only file: a restart loses what was accepted (set appendonly yes)')
  if (settings.appendonly === 'yes' && settings.appendfsync !== 'always') {
    issues.push(
      `Redis writes with appendfsync ${settings.appendfsync}: a crash can lose the last moments (set appendfsync always)`,
    )
  }
  const policy = settings['maxmemory-policy']
  if (policy && policy !== 'noeviction')
    issues.push(`Redis may evict keys (${policy}): set maxmemory-policy noeviction`)
  return issues
}

async function readRedisConfig(redis: Redis): Promise<Record<string, string>> {
  const names = ['appendonly', 'appendfsync', 'maxmemory-policy']
  try {
    const replies = await Promise.all(names.map((name) => redis.config('GET', name)))
    const pairs = replies.flat().map(String)
    return Object.fromEntries(names.map((name) => [name, pairs[pairs.indexOf(name) + 1] ?? '']))
  } catch {
    return {} // hosted Redis services often disable CONFIG
  }
}
