import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { redisNow, syncRedisClock } from '../../../src/platform/redis/redis-clock.ts'

const SRC = join(import.meta.dirname, '..', '..', '..', 'src')
const HOUR_MS = 3_600_000

/** Why these may ask the machine's own clock. */
const OWN_CLOCK = new Map([
  ['platform/redis/redis-clock.ts', 'until Redis has been heard'],
  ['features/dumps/dump-folder.ts', 'compared with the times of files'],
  ['features/evals/models/client.ts', 'compared with a date in a header'],
  ['platform/queue/clock-skew.ts', 'finds what the clocks of others have delayed'],
  ['platform/queue/consumer.ts', 'the clock of BullMQ; clock-skew.ts mends it'],
  ['platform/queue/schedules.ts', 'likewise'],
])

const setClock = (ms: number) => syncRedisClock({ time: async () => [Math.floor(ms / 1000), (ms % 1000) * 1000] })
afterAll(() => setClock(Date.now())) // other files of this process go on

it('is the time of Redis, whatever the clock of this machine says', async () => {
  const timeOfRedis = Date.now() + HOUR_MS
  await setClock(timeOfRedis)
  expect(Math.abs(redisNow() - timeOfRedis)).toBeLessThan(5000)
})

it('nothing that processes share is dated by the clock of one of them', () => {
  const files = globSync(['features/**/*.ts', 'http/**/*.ts', 'platform/**/*.ts'], { cwd: SRC })
  const own = files.filter((file) => /Date\.now|new Date\(\)/.test(readFileSync(join(SRC, file), 'utf8')))
  expect(own.toSorted()).toEqual([...OWN_CLOCK.keys()].toSorted())
})
