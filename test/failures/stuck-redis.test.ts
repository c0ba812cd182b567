import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PrivateRedis, startPrivateRedis } from '../../src/main/bootstrap/redis/private-redis.ts'
import { readMetrics } from '../features/operations/reading.ts'
import { openWorld, until, type World } from '../world.ts'

/** What Prometheus waits for a scrape by default. */
const SCRAPE_MS = 10_000

const folder = mkdtempSync(join(tmpdir(), 'rgs-stuck-'))
let redis: PrivateRedis
let world: World

beforeAll(async () => {
  redis = await startPrivateRedis(folder, () => {})
  world = await openWorld({ redisUrl: redis.url, PYTHON_WORKERS: 1 })
})
afterAll(async () => {
  await world.close()
  await redis.stop()
  rmSync(folder, { recursive: true, force: true })
})

it('a Redis that hangs is told to probes and scrapes while they still wait', async () => {
  const pid = Number(readFileSync(join(folder, 'redis', 'redis.pid'), 'utf8'))
  process.kill(pid, 'SIGSTOP')
  const begun = Date.now()
  const [ready, scraped, overview] = await Promise.all([
    world.call('GET', '/readyz'),
    world.app.inject('/metrics'),
    world.call('GET', '/overview'),
  ]).finally(() => process.kill(pid, 'SIGCONT'))
  expect(Date.now() - begun).toBeLessThan(SCRAPE_MS)
  expect([ready.status, ready.body.redis]).toEqual([
    503,
    { ok: false, detail: expect.stringMatching(/^Redis at .*redis\.sock has not answered for \d+ s$/) },
  ])
  expect([overview.status, overview.body.detail]).toEqual([
    503,
    expect.stringMatching(/ has not answered for \d+ s\.$/),
  ])
  expect(scraped.statusCode).toBe(200)
  const names = new Map(readMetrics(scraped.body).samples.map(({ name, value }) => [name, value]))
  expect([names.get('rgs_redis_up'), names.get('rgs_process_up')]).toEqual([0, 1])
  await until(
    () => world.call('GET', '/readyz'),
    ({ status }) => status === 200,
  )
})
