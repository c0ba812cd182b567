import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { LanedRedis } from '../../src/store/laned-redis.ts'
import { connectForWork, whenReady } from '../../src/store/redis.ts'

const connectionName = `lanes-${randomUUID()}`
const url = inject('redisUrl')
const onlooker = connectForWork({ url, prefix: '' })
const redis = new LanedRedis(url, { connectionName, enableOfflineQueue: false })
let sha = ''

interface Connection {
  id: string
  /** What it was asked last. */
  cmd: string
}

async function connections(): Promise<Connection[]> {
  const lines = String(await onlooker.client('LIST')).split('\n')
  const all = lines.map((line) => Object.fromEntries(line.split(' ').map((pair) => pair.split('='))) as never)
  return all.filter(({ name }) => name === connectionName)
}

async function lanesThatRanScripts(): Promise<number> {
  return (await connections()).filter(({ cmd }) => cmd === 'evalsha').length
}

beforeAll(async () => {
  await Promise.all([whenReady(redis, 10_000), whenReady(onlooker, 10_000)])
  sha = String(await redis.script('LOAD', 'return 7'))
})
afterAll(() => onlooker.disconnect())

it('scripts take the lanes in turn, all else does not stand behind them', async () => {
  await expect.poll(connections).toHaveLength(5)
  await expect
    .poll(async () => {
      await Promise.all(Array.from({ length: 8 }, () => redis.evalsha(sha, 0)))
      return lanesThatRanScripts()
    })
    .toBe(4)
  await redis.ping()
  expect(await lanesThatRanScripts()).toBe(4)
})

it('what goes together stays on one connection, scripts too', async () => {
  const id = await redis.client('ID')
  const answers = await redis.multi().client('ID').evalsha(sha, 0).client('ID').exec()
  expect(answers).toEqual([
    [null, id],
    [null, 7],
    [null, id],
  ])
})

it('lanes that are lost are left out, and come back', async () => {
  const own = String(await redis.client('ID'))
  const lanes = (await connections()).filter(({ id }) => id !== own)
  expect(lanes).toHaveLength(4)
  for (const { id } of lanes) await onlooker.client('KILL', 'ID', id)
  await expect.poll(() => redis.evalsha(sha, 0).catch(String)).toBe(7)
  await expect.poll(connections).toHaveLength(5)
  await expect.poll(async () => (await redis.evalsha(sha, 0)) === 7 && (await lanesThatRanScripts()) > 0).toBe(true)
})

it('a disconnect takes all of them away', async () => {
  redis.disconnect()
  await expect.poll(connections).toEqual([])
  await expect(redis.evalsha(sha, 0)).rejects.toThrow('Connection is closed')
})
