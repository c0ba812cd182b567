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

it('a Redis that allows no CONFIG says by INFO that it may evict keys, and how many it has evicted', async () => {
  const told = (await listDurabilityIssues(fake('yes always volatile-lru', { config: false, evicted: 3 }))).join()
  expect(told).toContain('has evicted 3 keys, and may evict more (volatile-lru)')
})

/** Settings as Redis tells them; the shared Redis of the tests must keep its own. */
function fake(settings: string, { config = true, evicted = 0 } = {}) {
  const [appendonly, appendfsync, policy] = settings.split(' ')
  const values: Record<string, string | undefined> = { appendonly, appendfsync }
  return {
    config: async (_get: string, name: string) => {
      if (!config) throw new Error('ERR unknown command')
      return [name, values[name]]
    },
    info: async () => `# Memory\r\nmaxmemory_policy:${policy}\r\n# Stats\r\nevicted_keys:${evicted}\r\n`,
  } as unknown as typeof redis // all that is asked of it
}
