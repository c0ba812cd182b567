/** The keys of a Redis by pattern: how many, how large, and whether they expire by themselves. */
import { Redis } from 'ioredis'

const SCAN_COUNT = 500

export interface KeyPattern {
  pattern: string
  lasting: number
  expiring: number
  /** Of keys without and with an expiry. */
  lastingBytes: number
  expiringBytes: number
  longestTtlS: number
}

export interface RedisCensus {
  usedMb: number
  patterns: KeyPattern[]
}

export class RedisCounter {
  readonly #redis: Redis

  constructor(socketPath: string) {
    this.#redis = new Redis(socketPath)
  }

  async count(): Promise<RedisCensus> {
    const patterns = new Map<string, KeyPattern>()
    for (let cursor = '', keys: string[]; cursor !== '0'; ) {
      ;[cursor, keys] = await this.#redis.scan(cursor || '0', 'COUNT', SCAN_COUNT)
      await this.#addKeys(patterns, keys)
    }
    const info = await this.#redis.info('memory')
    const usedMb = Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0) / 1024 ** 2
    return { usedMb, patterns: [...patterns.values()].toSorted((a, b) => (a.pattern < b.pattern ? -1 : 1)) }
  }

  close(): void {
    this.#redis.disconnect()
  }

  async #addKeys(patterns: Map<string, KeyPattern>, keys: string[]): Promise<void> {
    const pipeline = this.#redis.pipeline()
    for (const key of keys) pipeline.pttl(key).memory('USAGE', key)
    const answers = (await pipeline.exec()) ?? []
    for (const [at, key] of keys.entries()) {
      const ttl = Number(answers[2 * at]?.[1])
      const bytes = Number(answers[2 * at + 1]?.[1] ?? 0)
      const pattern = patternOf(key)
      const none = { lasting: 0, expiring: 0, lastingBytes: 0, expiringBytes: 0, longestTtlS: 0 }
      const entry = patterns.get(pattern) ?? { pattern, ...none }
      if (ttl === -2) continue // it has just expired
      if (ttl === -1) {
        entry.lasting++
        entry.lastingBytes += bytes
      } else {
        entry.expiring++
        entry.expiringBytes += bytes
        entry.longestTtlS = Math.max(entry.longestTtlS, ttl / 1000)
      }
      patterns.set(pattern, entry)
    }
  }
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
