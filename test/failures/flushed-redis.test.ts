/** The row of docs/operations/failures.md on a Redis that is emptied under load. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { STORAGE_FORMAT } from '../../src/main/redis-checks.ts'
import { until } from '../world.ts'
import { type Besieged, serverOnRedis } from './server.ts'

let part: Besieged
beforeAll(async () => {
  part = await serverOnRedis({ API_PROCESSES: '2' })
}, 300_000)
afterAll(() => part.stop())

const put = (run: string) => part.call('PUT', `/runs/${run}?restart=true`, { tasks: ['leg_counting'], batch_size: 2 })

it('emptied under load: callers that name the incarnation are refused, the others are told', async () => {
  const held = (await put('held')).body.incarnation
  const { incarnation } = (await put('unheld')).body
  const itemId = (await part.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
  const ifMatch = { 'if-match': `"${held}"` }
  const statuses: number[] = []
  const posting = (async () => {
    for (let k = 0; statuses.filter((status) => status === 412).length < 20; k++) {
      const posted = { run: 'held', item_id: itemId, group_id: `g${k}`, rollouts: [{ completion: 'none' }] }
      const answers = [
        part.call('POST', '/rollouts', posted, ifMatch),
        part.call('POST', '/items', { run: 'held' }, ifMatch),
      ]
      statuses.push(
        ...(await Promise.all([...answers, part.post('unheld', `u${k}`)])).slice(0, 2).map(({ status }) => status),
      )
    }
  })()
  await until(
    async () => statuses.length,
    (n) => n > 20,
  )
  await part.redis.client.flushall()
  await posting
  expect(statuses.slice(statuses.indexOf(412)).filter((status) => status < 300)).toEqual([]) // none is served after the first refusal
  expect((await part.call('GET', '/runs/held')).status).toBe(404)

  const { body } = await until(
    () => part.call('GET', '/runs/unheld'),
    (answer) => answer.body.state?.is === 'recreated',
  )
  expect(body.incarnation).not.toBe(incarnation)
  expect(part.server.output()).toContain('Redis has lost this run')
  expect((await put('unheld')).body).toMatchObject({ incarnation: body.incarnation, settings: { batch_size: 2 } })
  expect((await part.call('GET', '/runs/unheld')).body.state.is).not.toBe('recreated')

  const again = (await put('held')).body.incarnation
  expect((await part.call('POST', '/items', { run: 'held' }, ifMatch)).body.code).toBe('run_recreated')
  expect((await part.call('POST', '/items', { run: 'held' }, { 'if-match': `"${again}"` })).status).toBe(200)
  // Without it the next start would take the data for that of the first format.
  const format = await until(
    () => part.redis.client.get('rgs:storage-format'),
    (text) => text !== null,
  )
  expect(format).toBe(String(STORAGE_FORMAT))
}, 180_000)
