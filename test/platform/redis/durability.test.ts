import { afterAll, expect, inject, it } from 'vitest'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { listDurabilityIssues } from '../../../src/platform/redis/durability.ts'

const redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
afterAll(() => redis.disconnect())

it('the private Redis keeps what it has accepted', async () => {
  expect(await listDurabilityIssues(redis)).toEqual([])
})

it('a Redis that may lose something is told of', async () => {
  const told = async (settings: string) => (await listDurabilityIssues(fake(settings))).join()
  expect(await told('no always noeviction')).toContain('append-only')
  expect(await told('yes everysec noeviction')).toContain('appendfsync everysec')
  expect(await told('yes always allkeys-lru')).toContain('maxmemory-policy noeviction')
})

/** Settings as `CONFIG GET` tells them; the shared Redis of the tests must keep its own. */
function fake(settings: string) {
  const [appendonly, appendfsync, policy] = settings.split(' ')
  const values: Record<string, string | undefined> = { appendonly, appendfsync, 'maxmemory-policy': policy }
  return { config: async (_get: string, name: string) => [name, values[name]] } as unknown as typeof redis // all that is asked of it
}
