import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/platform/environment.ts'
import { formatRedisAddress, parseRedisAddress } from '../../../src/platform/redis/redis-url.ts'

describe('REDIS_URL', () => {
  it('is one Redis by its URL or its socket', () => {
    for (const url of ['redis://h:1', 'rediss://u:p@h/2', '/var/run/redis.sock']) {
      expect(parseRedisAddress(url)).toEqual({ kind: 'one', url })
    }
  })

  it('is a socket by a relative path as well', () => {
    for (const path of ['redis.sock', './redis.sock', 'run/redis']) {
      expect(parseRedisAddress(path)).toEqual({ kind: 'one', url: resolve(path) })
    }
  })

  it('is shown without its password', () => {
    expect(formatRedisAddress('redis://u:p@h/2')).toBe('h:6379')
    expect(formatRedisAddress('redis+sentinel://:p@s1,s2:26380/m')).toBe('s1:26379, s2:26380')
    expect(formatRedisAddress('/run/redis.sock')).toBe('/run/redis.sock')
  })

  it('names the nodes of a cluster, in either way of writing', () => {
    const nodes = [
      { host: 'a', port: 7000 },
      { host: '::1', port: 6379 },
    ]
    expect(parseRedisAddress('redis+cluster://a:7000,[::1]')).toEqual({ kind: 'cluster', nodes, tls: false })
    expect(parseRedisAddress('redis://a:7000, redis://[::1]')).toEqual({ kind: 'cluster', nodes, tls: false })
    expect(parseRedisAddress('rediss+cluster://u:p%40@a:7000,[::1]:6379')).toEqual({
      kind: 'cluster',
      nodes,
      tls: true,
      username: 'u',
      password: 'p@',
    })
    expect(parseRedisAddress('rediss://:p@a:7000,rediss://[::1]')).toMatchObject({
      kind: 'cluster',
      tls: true,
      password: 'p',
    })
  })

  it('names a master that Sentinel knows', () => {
    expect(parseRedisAddress('redis+sentinel://:p@s1,s2:26380/mymaster/3?sentinel_password=q')).toEqual({
      kind: 'sentinel',
      nodes: [
        { host: 's1', port: 26379 },
        { host: 's2', port: 26380 },
      ],
      master: 'mymaster',
      db: 3,
      password: 'p',
      sentinelPassword: 'q',
      tls: false,
    })
  })

  it('stops the start with a line that names it where it cannot be read', () => {
    for (const url of [
      'redis://127.0.0.1:6379/first',
      'redis+cluster://',
      'redis+sentinel://s1',
      'redis+cluster://a:b',
      'redis+sentinel://s/m/x',
      'redis+other://a',
      'foo://x',
      'http://h:6379',
      'unix:///run/redis.sock',
      'redis://h:port',
      'localhost:6379',
      'redis:h',
    ]) {
      expect(() => readConfig({ REDIS_URL: url }), url).toThrow(/REDIS_URL/)
    }
  })
})
