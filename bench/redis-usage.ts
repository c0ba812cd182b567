/** What each redis-server has used, as it says itself: finer than the ticks of /proc. */
import type { Redis } from 'ioredis'

export interface RedisUsage {
  /** Of the thread that runs commands: there is one core of it, whatever the machine has. */
  mainThreadSeconds: number
  /** Of all threads, without children that rewrite files. */
  processSeconds: number
  bytesIn: number
  bytesOut: number
  memoryBytes: number
  appendOnlyBytes: number
  commands: number
}

export async function getRedisUsage(redis: Redis): Promise<RedisUsage> {
  const text = await redis.info()
  const field = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? 0)
  return {
    mainThreadSeconds: field('used_cpu_user_main_thread') + field('used_cpu_sys_main_thread'),
    processSeconds: field('used_cpu_user') + field('used_cpu_sys'),
    bytesIn: field('total_net_input_bytes'),
    bytesOut: field('total_net_output_bytes'),
    memoryBytes: field('used_memory'),
    appendOnlyBytes: field('aof_current_size'),
    commands: field('total_commands_processed'),
  }
}

export function subtractUsage(after: RedisUsage, before: RedisUsage): RedisUsage {
  return mapUsage(after, (value, name) => value - before[name])
}

export function scaleUsage(usage: RedisUsage, by: number): RedisUsage {
  return mapUsage(usage, (value) => value * by)
}

function mapUsage(usage: RedisUsage, to: (value: number, name: keyof RedisUsage) => number): RedisUsage {
  const names = Object.keys(usage) as (keyof RedisUsage)[] // its own keys
  return Object.fromEntries(names.map((name) => [name, to(usage[name], name)])) as unknown as RedisUsage // all of them
}
