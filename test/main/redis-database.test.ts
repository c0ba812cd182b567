import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { requireRedis } from '../../src/main/storage-checks.ts'
import { createLogger } from '../../src/platform/log.ts'
import { findFreePortPairs, LoopbackRedis } from '../../verification/support/loopback-redis.ts'
import { getFreePort, startChildServer } from '../../verification/support/with-server.ts'

it('a database that Redis does not have is refused, and database 0 stays untouched', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-database-'))
  const [port = 0] = await findFreePortPairs(1)
  const redis = new LoopbackRedis(await resolveRedisBinary(console.log), folder, port, {})
  try {
    await redis.client.ping()
    const env = { REDIS_URL: `redis://127.0.0.1:${port}/99`, API_PROCESSES: '1', WORKERS: '0', PYTHON_WORKERS: '1' }
    const output = await startChildServer(env).then(
      async (server) => `it started${String(await server.stop())}`,
      (error: Error) => error.message,
    )
    expect(output).toContain('reasoning-gym-server: REDIS_URL names database 99, which this Redis does not have')
    expect(await redis.client.exists('rgs:storage-format')).toBe(0)
  } finally {
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

it('a Redis that is away ends the start, after one sentence that is repeated and does not tell the password', async () => {
  const lines: string[] = []
  const log = createLogger('info', 'test', { write: (line: string) => void lines.push(line) })
  const url = `redis://:secret@127.0.0.1:${await getFreePort()}`
  const started = requireRedis({ url, tls: undefined }, log, { firstMs: 100, repeatMs: 20, timeoutMs: 5000 })
  const sentence = (reason: string) =>
    new RegExp(`^Redis at 127\\.0\\.0\\.1:\\d+ does not answer${reason}\\. Start Redis, or correct REDIS_URL$`)
  await expect(started).rejects.toThrow(sentence(': connection refused'))
  expect(lines.length).toBeGreaterThan(1)
  const repeated = { level: 40, msg: expect.stringMatching(sentence('(: connection refused)?')) } // not known at once on a busy machine
  for (const line of lines) expect(JSON.parse(line)).toMatchObject(repeated)
})
