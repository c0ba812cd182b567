/** Rows of docs/operations/failures.md: Redis is emptied under load; an API process is killed after items were handed to a call and before it is answered. */
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { Item } from '@reasoning-gym-server/contract/item'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { STORAGE_FORMAT } from '../../src/main/storage-checks.ts'
import { listProcesses } from '../../verification/support/processes.ts'
import { until } from '../world.ts'
import { type ServerOnRedis, serverOnRedis } from './server.ts'

const LANES = 4
/** More than it takes until one of them is interrupted. */
const MAX_CALLS = 100

let part: ServerOnRedis
beforeAll(async () => {
  part = await serverOnRedis({ API_PROCESSES: '2' })
}, 300_000)
afterAll(() => part.stop())

const put = (run: string) => part.call('PUT', `/runs/${run}?restart=true`, { tasks: ['leg_counting'], batch_size: 2 })

it('emptied under load: callers that name the incarnation are refused, the others, if the run is the default, are told', async () => {
  const held = (await put('held')).body.incarnation
  const { incarnation } = (await put('default')).body
  const itemId = (await part.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
  const ifMatch = { 'if-match': `"${held}"` }
  /** Of two calls at the same time. */
  const pairs: number[][] = []
  const posting = (async () => {
    for (let k = 0; pairs.flat().filter((status) => status === 412).length < 20; k++) {
      const posted = { run: 'held', item_id: itemId, group_id: `g${k}`, rollouts: [{ completion: 'none' }] }
      const answers = [
        part.call('POST', '/rollouts', posted, ifMatch),
        part.call('POST', '/items', { run: 'held' }, ifMatch),
      ]
      const answered = await Promise.all([...answers, part.post('default', `u${k}`)])
      pairs.push(answered.slice(0, 2).map(({ status }) => status))
    }
  })()
  await until(
    async () => pairs.length,
    (n) => n > 10,
  )
  await part.redis.client.flushall()
  await posting
  const firstRefused = pairs.findIndex((pair) => pair.includes(412)) // the other of the pair may have come before
  expect(pairs.slice(firstRefused + 1).filter((pair) => pair.some((status) => status < 300))).toEqual([])
  expect((await part.call('GET', '/runs/held')).status).toBe(404)

  const { body } = await until(
    () => part.call('GET', '/runs/default'),
    (answer) => answer.body.state?.is === 'recreated',
  )
  expect(body.incarnation).not.toBe(incarnation)
  expect(part.server.output()).toContain('Redis has lost this run')
  expect((await put('default')).body).toMatchObject({ incarnation: body.incarnation, settings: { batch_size: 2 } })
  expect((await part.call('GET', '/runs/default')).body.state.is).not.toBe('recreated')

  const again = (await put('held')).body.incarnation
  expect((await part.call('POST', '/items', { run: 'held' }, ifMatch)).body.code).toBe('run_recreated')
  await until(
    () => part.call('POST', '/items', { run: 'held' }, { 'if-match': `"${again}"` }),
    ({ status }) => status === 200,
  )
  // Without it the next start would take the data for that of the first format.
  const format = await until(
    () => part.redis.client.get('rgs:storage-format'),
    (text) => text !== null,
  )
  expect(format).toBe(String(STORAGE_FORMAT))
}, 180_000)

it('killed between decision and answer: the repeated call gets the items that were handed to it', {
  timeout: 240_000,
}, async () => {
  // Not monitor() of ioredis: it fails where the first line comes in one packet with the answer to MONITOR.
  const monitor = connect(part.redis.port, '127.0.0.1').on('error', () => {})
  monitor.write('MONITOR\r\n')
  try {
    await part.call('PUT', '/runs/killed', { tasks: ['gcd', 'chain_sum'] })
    let isKilled = false
    createInterface({ input: monitor }).on('line', (line) => {
      if (isKilled || !/:taken-items:./.test(line)) return
      isKilled = true
      for (const pid of apiPids(part.server.pid)) killIfThere(pid)
    })
    const ask = (key: string) =>
      part
        .call('POST', '/items', { run: 'killed', count: 5 }, { 'idempotency-key': key })
        .catch(() => ({ status: 0, headers: {}, body: undefined }))
    const answers = new Map<string, string>()
    const lane = async (name: number) => {
      for (let k = 0; k < MAX_CALLS && (!isKilled || k < 3); k++) {
        const key = `${name}-${k}`
        const { body } = await until(
          () => ask(key),
          ({ status }) => status === 200,
          60_000,
        )
        answers.set(key, JSON.stringify(body))
      }
    }
    await Promise.all(Array.from({ length: LANES }, (_, name) => lane(name)))
    expect(isKilled).toBe(true)
    const items = [...answers.values()].flatMap((text) => (JSON.parse(text) as { items: Item[] }).items)
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
    const leased = await part.redis.client.keys('*killed*:leased-items')
    expect(await part.redis.client.hlen(leased[0] ?? '')).toBe(items.length) // none was handed to nobody
    for (const [key, answer] of answers) expect(JSON.stringify((await ask(key)).body)).toBe(answer)
  } finally {
    monitor.destroy()
  }
})

function apiPids(parent: number): number[] {
  return listProcesses()
    .filter(({ ppid, args }) => ppid === parent && args.split(' ').some((word) => word.endsWith('api.ts')))
    .map(({ pid }) => pid)
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {} // it has just ended
}
