import { randomUUID } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { prefetchItemsJob } from '../../../src/features/runs/jobs.ts'
import { Producer } from '../../../src/platform/queue/queues.ts'
import { connectForRequests, connectForWorkers, waitUntilReady } from '../../../src/platform/redis/connect.ts'
import { ScriptPoolRedis } from '../../../src/platform/redis/script-connections.ts'

const connectionName = `scripts-${randomUUID()}`
const url = inject('redisUrl')
const onlooker = connectForWorkers({ url, prefix: '' })
const redis = new ScriptPoolRedis(url, { connectionName, enableOfflineQueue: false })
/** As text, since another test may make Redis forget its scripts. */
const TEXT = 'return 7'
const script = () => redis.withScriptConnection((connection) => connection.eval(TEXT, 0))

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

async function countConnectionsThatRanScripts(): Promise<number> {
  return (await connections()).filter(({ cmd }) => cmd === 'eval').length
}

/** Until its connection is ready, a script runs on another one. */
async function waitUntilAllReady(): Promise<void> {
  await Promise.all(redis.listConnections().map((connection) => waitUntilReady(connection, 40_000)))
}

beforeAll(() => Promise.all([waitUntilAllReady(), waitUntilReady(onlooker, 40_000)]))
afterAll(() => onlooker.disconnect())

it('scripts take their connections in turn, and other commands do not queue behind them', async () => {
  await Promise.all(Array.from({ length: 8 }, script))
  expect(await countConnectionsThatRanScripts()).toBe(4)
})

it('what goes together stays on one connection, scripts too', async () => {
  const id = await redis.client('ID')
  const answers = await redis.multi().client('ID').eval(TEXT, 0).client('ID').exec()
  expect(answers).toEqual([
    [null, id],
    [null, 7],
    [null, id],
  ])
})

it('lost connections are skipped and come back', async () => {
  const own = String(await redis.client('ID'))
  const scriptConnections = (await connections()).filter(({ id }) => id !== own)
  expect(scriptConnections).toHaveLength(4)
  for (const { id } of scriptConnections) await onlooker.client('KILL', 'ID', id)
  expect(await script()).toBe(7)
  await expect.poll(connections).toHaveLength(5)
  await waitUntilAllReady()
  await Promise.all(Array.from({ length: 8 }, script))
  expect(await countConnectionsThatRanScripts()).toBeGreaterThanOrEqual(4)
})

it('a connection that has ended but is not closed yet is skipped', async () => {
  const readyAgain = Promise.withResolvers<void>()
  const answers = await redis.withScriptConnection((connection) => {
    connection.once('ready', readyAgain.resolve)
    connection.disconnect(true)
    expect(connection.status).toBe('ready')
    return Promise.all(Array.from({ length: 16 }, script))
  })
  expect(new Set(answers)).toEqual(new Set([7]))
  await readyAgain.promise // until then, the next test could get the connection that is ending
  await waitUntilAllReady()
})

it('a connection that does not answer is skipped', async () => {
  const key = `scripts-${randomUUID()}`
  let answered = false
  const stuck = redis
    .withScriptConnection((connection) => connection.blpop(key, 60))
    .finally(() => {
      answered = true
    })
  for (let k = 0; k < 40; k++) await script()
  expect(answered).toBe(false)
  await redis.rpush(key, 'on')
  await stuck
  await redis.del(key)
})

it('jobs are added though Redis has forgotten its scripts', async () => {
  const prefix = `{scripts-${randomUUID()}}`
  const producer = new Producer(redis, prefix)
  const add = (id: string) => producer.add(prefetchItemsJob, [{ id, data: { run: id, epoch: 1 } }])
  for (let k = 0; k < 8; k++) await add(`before-${k}`)
  await onlooker.script('FLUSH')
  for (let k = 0; k < 8; k++) await add(`after-${k}`)
  const keys = await redis.keys(`${prefix}*`)
  expect(keys.filter((key) => key.includes('after'))).toHaveLength(8)
  await redis.unlink(...keys)
})

it('a disconnect takes all of them away', async () => {
  redis.disconnect()
  await expect.poll(connections).toEqual([])
  await expect(script()).rejects.toThrow('Connection is closed')
})

it('all leave a master that was replaced behind their address, once', async () => {
  let opened = 0
  let master = 0 // connections to a former one cannot write
  const server = createServer((socket) => {
    const own = master
    opened++
    socket.on('data', (data) => {
      for (const [, name] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
        socket.write(
          name === 'set' && own !== master ? '-ERR Error running script: -READONLY You cannot write\r\n' : '+OK\r\n',
        )
    })
  }).listen(0, '127.0.0.1')
  await expect.poll(() => server.listening).toBe(true)
  const pool = connectForRequests({ url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, prefix: '' })
  const each = (pool as ScriptPoolRedis).listConnections()
  const write = () =>
    Promise.all(each.map((one) => one.set('key', '').catch(({ message }: Error) => /READONLY/.exec(message)?.[0])))
  await Promise.all(each.map((one) => waitUntilReady(one, 40_000)))
  expect(await write()).toEqual(each.map(() => 'OK'))
  master++
  const since = performance.now()
  expect(await write()).toEqual(each.map(() => 'READONLY'))
  await expect.poll(write).toEqual(each.map(() => 'OK'))
  master++ // at once again: the server waits, so that a replica can be read
  expect(await write()).toEqual(each.map(() => 'READONLY'))
  const again = await write()
  // after 10 s they connect once more
  if (performance.now() - since < 9000) expect([again, opened]).toEqual([each.map(() => 'READONLY'), 2 * each.length])
  pool.disconnect()
  server.close()
})
