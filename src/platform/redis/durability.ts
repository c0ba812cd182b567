/** What a Redis promises of what it has accepted: for somebody's own Redis that is up to its settings. */
import type { Redis } from 'ioredis'
import { listMasters } from './cluster.ts'

/** What stands against "accepted is never lost", in sentences; empty if nothing does, or if Redis does not tell. */
export async function listDurabilityIssues(redis: Redis): Promise<string[]> {
  return [...new Set((await Promise.all(listMasters(redis).map(listNodeDurabilityIssues))).flat())]
}

async function listNodeDurabilityIssues(redis: Redis): Promise<string[]> {
  const settings = await readRedisConfig(redis)
  const gaps: string[] = []
  if (settings.appendonly === 'no')
    gaps.push('Redis has no append-only file: a restart loses what was accepted (set appendonly yes)')
  if (settings.appendonly === 'yes' && settings.appendfsync !== 'always') {
    gaps.push(
      `Redis writes with appendfsync ${settings.appendfsync}: a crash can lose the last moments (set appendfsync always)`,
    )
  }
  const policy = settings['maxmemory-policy']
  if (policy && policy !== 'noeviction')
    gaps.push(`Redis may throw away keys (${policy}): set maxmemory-policy noeviction`)
  return gaps
}

async function readRedisConfig(redis: Redis): Promise<Record<string, string>> {
  const names = ['appendonly', 'appendfsync', 'maxmemory-policy']
  try {
    const answers = await Promise.all(names.map((name) => redis.config('GET', name)))
    const pairs = answers.flat().map(String)
    return Object.fromEntries(names.map((name) => [name, pairs[pairs.indexOf(name) + 1] ?? '']))
  } catch {
    return {} // hosted ones often refuse CONFIG
  }
}
