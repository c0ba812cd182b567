import { expect, it } from 'vitest'
import { getFreePort } from '../../src/main/bootstrap/child-server.ts'
import { warnIfRedisUnreachable } from '../../src/main/redis-checks.ts'
import { createLogger } from '../../src/platform/log.ts'
import { throttledLog } from '../../src/platform/throttled-log.ts'
import { until } from '../world.ts'

it('an error that comes over and over is told once in a while, with how many came meanwhile; others at once', async () => {
  const told: [string, number][] = []
  const tell = throttledLog((error, untold) => void told.push([String(error), untold]), 200)
  for (let k = 0; k < 100; k++) tell('away')
  tell('other')
  expect(told).toEqual([
    ['away', 0],
    ['other', 0],
  ])
  await until(
    async () => {
      tell('away')
      return told
    },
    () => told.length === 3,
  )
  expect(told[2]?.[1]).toBeGreaterThanOrEqual(99)
})

it('a Redis that is away at the start is named in one line, without its password', async () => {
  const lines: string[] = []
  const url = `redis://:secret@127.0.0.1:${await getFreePort()}`
  await warnIfRedisUnreachable(
    { url },
    createLogger('info', 'test', { write: (line: string) => void lines.push(line) }),
    100,
    100,
  )
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 40,
    msg: expect.stringMatching(/^Redis at 127\.0\.0\.1:\d+ /),
  })
  expect(lines[0]).toContain('REDIS_URL')
  expect(lines[0]).not.toContain('secret')
})
