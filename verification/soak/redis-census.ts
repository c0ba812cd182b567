/** The keys of a Redis that do not expire by themselves, by pattern: how many, and how large. */
import type { Redis } from 'ioredis'

const SCAN_COUNT = 500

interface KeyCount {
  keys: number
  bytes: number
}

interface RedisCensus {
  usedMb: number
  /** What expires by itself. */
  expiringMb: number
  /** By pattern. */
  lasting: Map<string, KeyCount>
}

export async function countKeys(redis: Redis): Promise<RedisCensus> {
  const lasting = new Map<string, KeyCount>()
  let expiringBytes = 0
  for (let cursor = '', keys: string[]; cursor !== '0'; ) {
    ;[cursor, keys] = await redis.scan(cursor || '0', 'COUNT', SCAN_COUNT)
    const pipeline = redis.pipeline()
    for (const key of keys) pipeline.pttl(key).memory('USAGE', key)
    const answers = (await pipeline.exec()) ?? []
    for (const [at, key] of keys.entries()) {
      const [ttl, bytes] = [Number(answers[2 * at]?.[1]), Number(answers[2 * at + 1]?.[1] ?? 0)]
      if (ttl >= 0) expiringBytes += bytes
      if (ttl !== -1) continue // -2: it has just expired
      const pattern = patternOf(key)
      const count = lasting.get(pattern) ?? { keys: 0, bytes: 0 }
      lasting.set(pattern, { keys: count.keys + 1, bytes: count.bytes + bytes })
    }
  }
  const usedBytes = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? 0)
  return { usedMb: usedBytes / 1024 ** 2, expiringMb: expiringBytes / 1024 ** 2, lasting }
}

/** The name of a key with IDs, numbers and the names of runs replaced: what is left are the words of the code. */
export function patternOf(key: string): string {
  return key
    .replace(/(run:)[^:}]+/g, '$1NAME')
    .replace(/\b(eval|collect)-[0-9a-f]+/g, '$1-ID')
    .split(':')
    .map((part) =>
      /^[{}a-z-]{1,32}$/i.test(part) || /NAME|(eval|collect)-ID/.test(part) ? part : part.replace(/[^{}]+/, 'N'),
    )
    .join(':')
}
